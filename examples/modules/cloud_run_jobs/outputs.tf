output "uri" {
  description = "Where the service answers."
  value       = google_cloud_run_v2_service.this.uri
}

output "jobs" {
  description = "The jobs' full names, by name."
  value       = { for name, job in idempotent_scheduled_job.this : name => job.id }
}

output "roles" {
  description = "What was granted, and on what."
  value       = idempotent_handler.this.required_roles
}
