variable "nightly_x_api_key" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "nightly_x_vault" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "idempotent_scheduled_job" "nightly" {
  name        = "nightly-report"
  project     = "acme-prod"
  region      = "europe-west1"
  description = "Sends the \"nightly\" report for $${team}"
  schedule    = "0 3 * * *"
  time_zone   = "Europe/Berlin"

  http_target {
    uri       = "https://reports-abc.a.run.app/run"
    body_text = "{\"all\": true}"
    headers = {
      Content-Type = "application/json"
      X-Team       = "billing"
    }

    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
      audience              = "https://reports-abc.a.run.app"
    }
    headers_wo = {
      "X-Api-Key" = var.nightly_x_api_key
      "X-Vault"   = var.nightly_x_vault
    }
    headers_wo_version = "1"
  }

  retry_config {
    retry_count          = 3
    min_backoff_duration = "30s"
  }

  deduplication {
    mode = "observe"
  }
}

moved {
  from = google_cloud_scheduler_job.nightly
  to   = idempotent_scheduled_job.nightly
}

resource "idempotent_scheduled_job" "many" {
  for_each = {
    "daily" = {
      name            = "daily"
      description     = null
      schedule        = "0 3 * * *"
      http_target_uri = "https://reports-abc.a.run.app/daily"
    }
    "weekly" = {
      name            = "weekly"
      description     = "On Mondays"
      schedule        = "0 3 * * 1"
      http_target_uri = "https://reports-abc.a.run.app/weekly"
    }
  }

  name        = each.value.name
  project     = "acme-prod"
  region      = "europe-west1"
  description = each.value.description
  schedule    = each.value.schedule

  http_target {
    uri = each.value.http_target_uri

    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
      audience              = "https://reports-abc.a.run.app"
    }
  }

  deduplication {
    mode = "observe"
  }
}

moved {
  from = google_cloud_scheduler_job.many["daily"]
  to   = idempotent_scheduled_job.many["daily"]
}

moved {
  from = google_cloud_scheduler_job.many["weekly"]
  to   = idempotent_scheduled_job.many["weekly"]
}

resource "idempotent_scheduled_job" "counted" {
  for_each = {
    "0" = {
      name            = "first"
      http_target_uri = "https://reports-abc.a.run.app/first"
    }
    "1" = {
      name            = "second"
      http_target_uri = "https://reports-abc.a.run.app/second"
    }
  }

  name     = each.value.name
  project  = "acme-prod"
  region   = "europe-west1"
  schedule = "0 3 * * *"
  paused   = true

  http_target {
    uri = each.value.http_target_uri

    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
      audience              = "https://reports-abc.a.run.app"
    }
  }

  deduplication {
    mode = "observe"
  }
}

moved {
  from = google_cloud_scheduler_job.counted[0]
  to   = idempotent_scheduled_job.counted["0"]
}

moved {
  from = google_cloud_scheduler_job.counted[1]
  to   = idempotent_scheduled_job.counted["1"]
}

# The instances of google_cloud_scheduler_job.mixed differ in their blocks: change the type's name in their own block
# instead of copying one from here.
moved {
  from = google_cloud_scheduler_job.mixed["web"]
  to   = idempotent_scheduled_job.mixed["web"]
}

moved {
  from = google_cloud_scheduler_job.mixed["engine"]
  to   = idempotent_scheduled_job.mixed["engine"]
}

# What follows belongs into the configuration of module.reports.

resource "idempotent_scheduled_job" "engine" {
  name             = "engine"
  project          = "acme-prod"
  region           = "europe-west1"
  schedule         = "0 3 * * *"
  attempt_deadline = "600s"

  app_engine_http_target {
    relative_uri = "/run"
    body         = "//4="

    app_engine_routing {
      service = "worker"
    }
  }

  deduplication {
    mode = "observe"
  }
}

moved {
  from = google_cloud_scheduler_job.engine
  to   = idempotent_scheduled_job.engine
}

# These stay with google_cloud_scheduler_job. Keep their blocks; where one block declares others too, take the keys of those
# out of it.
#   google_cloud_scheduler_job.many["topic"]: it publishes to a Pub/Sub topic, whose messages carry neither the job's name nor the schedule time: a subscriber cannot tell a second delivery from another run.
