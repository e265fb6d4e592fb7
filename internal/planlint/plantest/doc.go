// Package plantest makes the JSON of `terraform show -json` out of configurations, without Terraform, a provider or a network: it is
// how tests have plans of hashicorp/google. Only tests import it.
//
// It knows the attributes and blocks of the resources that checks are about, which of them the provider computes, and what their
// values are once applied. It evaluates variables, locals, count, for_each, dynamic blocks, modules in folders, moved blocks and the
// functions that the tests use. What it does not know is an error, never left out.
package plantest
