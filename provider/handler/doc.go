// Package handler is the resource idempotent_handler: a handler as an object of its own, so that handler, service, roles and jobs
// form a graph without a cycle. It stands for no object of a cloud: everything it knows follows from its configuration, and all it
// makes are files, where they are asked for.
//
// No domain rule lives here. What a kind of handler is made of is the generator's to say (files.go); what a kind asks of its platform
// is one table (platform.go), from which the environment (env.go) and the roles (roles.go) follow; what jobs may rely on is a
// [jobspec.Contract].
package handler
