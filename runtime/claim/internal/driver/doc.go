// Package driver holds what the stores share: reading a store URL without ever repeating a secret that it may hold, the alphabet
// of table names, and the form of versions.
package driver
