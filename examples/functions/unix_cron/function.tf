output "schedule" {
  value = provider::idempotent::unix_cron("every mon,wed 9:00") # "0 9 * * MON,WED"
}
