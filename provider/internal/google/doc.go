// Package google opens connections to Google's APIs as the provider block asks for, and calls through them with patience.
//
// An endpoint on a loopback address is spoken to in clear text and without credentials: it is a local cloud or an emulator, and a
// token must not leave for it. Any other endpoint is spoken to over TLS.
package google
