import {
  to = idempotent_scheduled_job.nightly_report
  id = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"
}
