output "claim" {
  value = provider::idempotent::run_id("projects/acme-prod/locations/europe-west1/jobs/nightly-report", "2026-10-16T12:00:00Z")
}

output "forced_claim" {
  value = provider::idempotent::run_id("projects/acme-prod/locations/europe-west1/jobs/nightly-report", "2026-10-16T12:00:00Z", { forced = true })
}
