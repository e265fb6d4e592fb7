variable "project" {
  description = "The project of jobs, service and claims."
  type        = string
}

variable "region" {
  description = "The region of jobs and service."
  type        = string
}

variable "name" {
  description = "The handler's name; the service and the accounts are named after it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,18}$", var.name))
    error_message = "The name must be 3 to 19 lower-case letters, digits and hyphens that begin with a letter, so that accounts can be named after it."
  }
}

variable "image" {
  description = "The container image of the handler."
  type        = string
}

variable "jobs" {
  description = "The jobs that the handler serves, by their names."
  type = map(object({
    schedule    = string
    time_zone   = optional(string, "Etc/UTC")
    description = optional(string)
  }))
}

variable "request_timeout" {
  description = "The longest that one attempt may take, at most 30 minutes, in seconds: 300s."
  type        = string
  default     = "300s"
}

variable "database" {
  description = "The Firestore database of the claims, which must be there."
  type        = string
  default     = "(default)"
}

variable "collection" {
  description = "The collection of the claims."
  type        = string
  default     = "scheduler_runs"
}

variable "output_dir" {
  description = "The folder that the generated program is written to. Null: it is not written."
  type        = string
  default     = null
}
