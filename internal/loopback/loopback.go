// Package loopback holds what counts as this machine, for whoever speaks in clear text, or without asking who calls, on no other.
package loopback

import (
	"net/netip"
	"strings"
)

// Host reports whether a host, as in URLs without brackets or port, is this machine: localhost in any case, or a loopback address.
// Names below localhost are not: not every resolver keeps them on the machine.
func Host(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
