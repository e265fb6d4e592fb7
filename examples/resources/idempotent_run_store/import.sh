terraform import idempotent_run_store.claims 'projects/acme-prod/databases/(default)/collectionGroups/scheduler_runs'
terraform import idempotent_run_store.claims 'firestore://acme-prod/(default)/scheduler_runs'
terraform import idempotent_run_store.claims 'acme-prod/(default)/scheduler_runs'
terraform import idempotent_run_store.claims '(default)/scheduler_runs'
terraform import idempotent_run_store.claims scheduler_runs
