// Package demo runs the project's main job on one machine, on real parts: a real apply against the local cloud, the generated
// handler built as a module of its own, runs fired with signed tokens through the local Cloud Scheduler, a process that is really
// killed, and a claim store whose effects are counted afterwards.
//
// Run does it and returns what it saw; Judge decides from that alone whether every run had exactly one effect and every scenario
// really took place.
package demo
