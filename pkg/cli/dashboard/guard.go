// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"crypto/subtle"
	"net"
	"net/http"
)

// tokenParameter is the parameter of the URL with the token.
const tokenParameter = "token"

// guard accepts only requests of the browser that has opened the URL with the token.
type guard struct {
	// host is the address and the port that the page is served on.
	host string
	// token is in the URL that the command prints. A browser exchanges it for a cookie.
	token string
	// session is the value of the cookie.
	session string
}

// protect returns a handler that refuses every request without the cookie, and all that another page sends.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		// A browser of a CSP before version 3 does not take 'self' for a WebSocket.
		header.Set("Content-Security-Policy", "default-src 'self'; connect-src 'self' ws://"+g.host+
			"; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		switch {
		case r.Host != g.host:
			// Another name that resolves to the loopback address: DNS rebinding.
			http.Error(w, "the dashboard is served at http://"+g.host+" only", http.StatusForbidden)
		case !g.isOfPage(r):
			http.Error(w, "the request is of another page", http.StatusForbidden)
		case r.URL.Path == "/" && isSame(r.URL.Query().Get(tokenParameter), g.token):
			http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case !g.hasSession(r):
			http.Error(w, "open the URL that kubectl modelbox dashboard has printed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isOfPage returns whether a request is one of the page, or opens the page. A page on another port of the loopback address is
// another one, although it shares the cookies.
func (g *guard) isOfPage(r *http.Request) bool {
	if origin, isThere := r.Header["Origin"]; isThere && (len(origin) != 1 || origin[0] != "http://"+g.host) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

func (g *guard) hasSession(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookieName())
	return err == nil && isSame(cookie.Value, g.session)
}

// cookieName has the port: a browser has the same cookies for all ports of an address.
func (g *guard) cookieName() string {
	_, port, _ := net.SplitHostPort(g.host)
	return "modelbox-dashboard-" + port
}

func isSame(given, wanted string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(wanted)) == 1
}
