// Package process runs handlers in operating system processes of their own, for tests that end, stop and kill them.
//
// The process is the test binary itself, started once more: TestMain calls [Main], which serves instead of testing in such a process.
// A process tells its parent over its standard output what happens in it, one [Event] a line, and ends when its standard input does,
// so that none outlives the tests.
//
// What a delivery makes the work do stands in its query, see [Task]; the policy stands in the header, as in life.
package process
