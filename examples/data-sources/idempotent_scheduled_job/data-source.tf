data "idempotent_scheduled_job" "nightly_report" {
  name = "nightly-report"
}

check "nightly_report_ran_well" {
  assert {
    condition     = try(data.idempotent_scheduled_job.nightly_report.last_attempt_status.code, "OK") == "OK"
    error_message = "The last attempt of nightly-report failed."
  }
}

output "next_report" {
  value = data.idempotent_scheduled_job.nightly_report.next_time
}
