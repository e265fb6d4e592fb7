terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

# Project, region and credentials also come from the environment, as with hashicorp/google.
provider "idempotent" {
  project = "acme-prod"
  region  = "europe-west1"
}
