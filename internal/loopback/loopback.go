// Package loopback holds what counts as this machine.
package loopback

import (
	"net/netip"
	"strings"
)

// Host reports whether a host, as in URLs without brackets or port, is this machine for whoever speaks in clear text to no other:
// localhost, spelled so, or a loopback address. Go's clients hand any other spelling of the name to a proxy, if one is set.
func Host(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback()
}

// Name reports whether a host is meant to be this machine: Host, or localhost and what is below it in any spelling (RFC 6761), which not
// every resolver keeps on the machine.
func Name(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return Host(host) || strings.HasSuffix(host, ".localhost")
}
