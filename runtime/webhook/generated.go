package webhook

// SupportsGenerated1 says that this library serves generated code of version 1, which refers to it.
const SupportsGenerated1 = true
