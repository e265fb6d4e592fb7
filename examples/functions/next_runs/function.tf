locals {
  runs = provider::idempotent::next_runs("30 2 * * *", "Europe/Berlin", "2027-03-26T00:00:00Z", 3)
}

output "times" {
  value = local.runs.times
}

# The clocks go forward on 28 March: half past two does not come that night.
output "skipped" {
  value = [for change in local.runs.affected : change.wall if change.kind == "skipped"]
}
