// Package caller finds out who sent a request, before anything that the request says is believed.
//
// There are four ways, and none is silently weaker than it was asked to be:
//
//   - [Verify] checks an OpenID Connect token itself: signature, issuer, audience, expiry and a list of callers. It works anywhere.
//   - [CloudRunIAM] relies on Cloud Run having checked the token and removed its signature. It works on Cloud Run only.
//   - [AppEngine] relies on the headers that App Engine strips from outside requests. It works on App Engine only.
//   - [Insecure] checks nothing but that the peer is on this machine, unless any peer is allowed in so many words.
//
// The list of callers cannot be empty where tokens are read: everybody with a Google account can have a token made out to any
// audience, so an audience alone proves nothing.
package caller
