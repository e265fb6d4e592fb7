// Package inbox holds every inbox of runtime/webhook to one promise, over real stores: an event is stored once and never lost, its work is
// completed once, what fails is tried again and in the end listed as dead, and the guards keep the order. It also holds the tests of
// runtime/webhook that need tools which no user's go.sum should carry.
package inbox
