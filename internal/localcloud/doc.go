// Package localcloud is Cloud Scheduler, the field settings of Firestore and an OpenID Connect issuer on one loopback port.
//
// It serves the official gRPC services and, transcoded from their annotations, the same as REST, so that the Go clients, gcloud and
// Terraform providers work against it unchanged once their endpoint points here. Jobs really fire: with the headers, deadlines,
// backoff and signed tokens of Cloud Scheduler, in real time or by a clock that is moved by hand, and with faults on request.
//
// A [Cloud] keeps everything in memory, and in files on request. It is made for tests, demonstrations and laptops: it asks nobody for
// credentials and therefore listens on a loopback address unless told otherwise.
package localcloud
