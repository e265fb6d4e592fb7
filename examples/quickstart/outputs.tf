output "retry_schedule" {
  description = "When each attempt of a run starts, and which is sure to find the lease of a crashed first attempt over."
  value       = idempotent_scheduled_job.yearly["killed"].retry_schedule
}

output "run_id" {
  description = "The record under which the first run of 2027 is claimed."
  value       = provider::idempotent::run_id(idempotent_scheduled_job.yearly["killed"].id, "2027-01-01T03:00:00Z")
}
