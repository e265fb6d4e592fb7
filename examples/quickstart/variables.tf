variable "project" {
  description = "The project that the jobs are created in."
  type        = string
}

variable "region" {
  description = "The region that the jobs are created in."
  type        = string
}

variable "service_account_email" {
  description = "The account that deliveries identify themselves with. It must belong to the project."
  type        = string
}

variable "target_uri" {
  description = "Where the handler answers."
  type        = string
}

variable "store" {
  description = "Where the handler keeps its claims, as a URL."
  type        = string
}

variable "output_dir" {
  description = "The folder that the handler is generated into. Unset: it is only in the job's handler_files."
  type        = string
  default     = null
}

variable "forced_paused" {
  description = "Whether the job that runs every minute is paused."
  type        = bool
  default     = true
}

variable "cloud_scheduler_custom_endpoint" {
  description = "Where Cloud Scheduler is reached. Unset: the public endpoint."
  type        = string
  default     = null
}

variable "firestore_custom_endpoint" {
  description = "Where the Firestore Admin API is reached. Unset: the public endpoint."
  type        = string
  default     = null
}
