# Store, handler, service, roles and jobs depend on each other in this order. The handler knows nothing of the service's address: its
# audience is a constant, which the service lists among its custom audiences and the jobs have from the contract.

resource "google_service_account" "handler" {
  project      = var.project
  account_id   = "${var.name}-handler"
  display_name = "Runs ${var.name}"
}

resource "google_service_account" "scheduler" {
  project      = var.project
  account_id   = "${var.name}-scheduler"
  display_name = "Calls ${var.name}"
}

resource "idempotent_run_store" "claims" {
  project    = var.project
  database   = var.database
  collection = var.collection
}

resource "idempotent_handler" "this" {
  project               = var.project
  name                  = var.name
  jobs                  = keys(var.jobs)
  store                 = idempotent_run_store.claims.url
  service_account_email = google_service_account.handler.email
  callers               = [google_service_account.scheduler.email]
  request_timeout       = var.request_timeout
  output_dir            = var.output_dir
}

resource "google_cloud_run_v2_service" "this" {
  project          = var.project
  location         = var.region
  name             = var.name
  custom_audiences = [idempotent_handler.this.audience]

  template {
    service_account = google_service_account.handler.email
    timeout         = var.request_timeout

    containers {
      image = var.image

      dynamic "env" {
        for_each = idempotent_handler.this.env
        content {
          name  = env.key
          value = env.value
        }
      }
    }
  }
}

resource "google_project_iam_member" "this" {
  for_each = {
    for key, grant in idempotent_handler.this.required_roles : key => grant if grant.resource_type == "project"
  }

  project = trimprefix(each.value.resource, "projects/")
  role    = each.value.role
  member  = each.value.member

  dynamic "condition" {
    for_each = each.value.condition[*]
    content {
      title      = "${var.name}-${each.key}"
      expression = condition.value
    }
  }
}

resource "google_cloud_run_v2_service_iam_member" "this" {
  for_each = {
    for key, grant in idempotent_handler.this.required_roles : key => grant if grant.resource_type == "cloud_run_service"
  }

  project  = google_cloud_run_v2_service.this.project
  location = google_cloud_run_v2_service.this.location
  name     = google_cloud_run_v2_service.this.name
  role     = each.value.role
  member   = each.value.member
}

resource "idempotent_scheduled_job" "this" {
  for_each = var.jobs

  project          = var.project
  region           = var.region
  name             = each.key
  description      = each.value.description
  schedule         = each.value.schedule
  time_zone        = each.value.time_zone
  attempt_deadline = var.request_timeout

  http_target {
    uri = "${google_cloud_run_v2_service.this.uri}/"
    oidc_token {
      service_account_email = google_service_account.scheduler.email
    }
  }

  deduplication {
    contract   = idempotent_handler.this.contract
    manage_ttl = false # The store has the policy.
  }

  # Not before the first run is authorised.
  depends_on = [google_project_iam_member.this, google_cloud_run_v2_service_iam_member.this]
}
