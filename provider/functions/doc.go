// Package functions are the provider's functions, one a file. They are pure: Terraform compares their results between plan and
// apply.
package functions
