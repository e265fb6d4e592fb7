// Package soak runs thousands of runs through handler processes that are killed, stopped and ended at random while deliveries are
// duplicated, reordered and cut off, and replies of the store get lost. Then it judges what is left.
//
// What must hold, whatever happened: a run whose effect is in the transaction that completes it has exactly one effect; no run is
// completed by two attempts, and the attempt that says it executed the run is the one in the record; a run that keeps being delivered
// gets done. A soak in which too little happened proves nothing, and fails.
package soak
