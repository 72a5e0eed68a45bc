// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package frontproxy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// alice is whom the proxy speaks for.
var alice = &user.DefaultInfo{Name: "alice", Groups: []string{"shop", user.AllAuthenticated}, Extra: map[string][]string{}}

// direct is who comes without a proxy.
var direct = &user.DefaultInfo{Name: "bob", Groups: []string{user.AllAuthenticated}}

func TestAuthenticator(t *testing.T) {
	authority, proxy, other := newAuthority(t), newKey(t), newKey(t)
	content, err := dynamiccertificates.NewStaticCAContent("proxies",
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.certificate.Raw}))
	if err != nil {
		t.Fatal(err)
	}
	strings := func(of ...string) headerrequest.StringSliceProvider { return headerrequest.StaticStringSlice(of) }
	config := &authenticatorfactory.RequestHeaderConfig{
		UsernameHeaders: strings("X-Remote-User"), UIDHeaders: strings("X-Remote-Uid"), GroupHeaders: strings("X-Remote-Group"),
		ExtraHeaderPrefixes: strings("X-Remote-Extra-"), CAContentProvider: content, AllowedClientNames: strings("front-proxy"),
	}
	authenticates := NewAuthenticator(config, authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: direct}, true, nil
	}))

	for _, row := range []struct {
		name        string
		certificate *x509.Certificate
		headers     bool
		want        user.Info
		isProxied   bool
	}{
		{"the proxy speaks for a user", authority.sign(t, "front-proxy", proxy), true, alice, true},
		{"the proxy speaks for itself", authority.sign(t, "front-proxy", proxy), false, direct, false},
		{"a name that is not allowed", authority.sign(t, "another-proxy", proxy), true, direct, false},
		{"a certificate of another authority", newAuthority(t).sign(t, "front-proxy", other), true, direct, false},
		{"no certificate", nil, true, direct, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.TLS = &tls.ConnectionState{}
			if row.certificate != nil {
				r.TLS.PeerCertificates = []*x509.Certificate{row.certificate}
			}
			if row.headers {
				r.Header.Set("X-Remote-User", alice.Name)
				r.Header.Set("X-Remote-Group", alice.Groups[0])
			}
			response, ok, err := authenticates.AuthenticateRequest(r)
			if err != nil || !ok {
				t.Fatalf("got %v, %v", ok, err)
			}
			got, isProxied := response.User, false
			if proxied, is := got.(proxiedUser); is {
				got, isProxied = proxied.Info, true
			}
			if diff := cmp.Diff(row.want, got); diff != "" || isProxied != row.isProxied {
				t.Errorf("proxied: %v, -want +got:\n%s", isProxied, diff)
			}
		})
	}
}

func TestAuthorizer(t *testing.T) {
	patch := authorizer.AttributesRecord{
		User: proxiedUser{alice}, Verb: "patch", Namespace: "shop", Name: "web",
		APIGroup: "model.github.com", APIVersion: "v1", Resource: "modelboxes", ResourceRequest: true,
	}
	with := func(change func(*authorizer.AttributesRecord)) authorizer.AttributesRecord {
		changed := patch
		change(&changed)
		return changed
	}
	for _, row := range []struct {
		name       string
		attributes authorizer.AttributesRecord
		// allowed are the names that the user has the right to, none for every object; nil is no right at all.
		allowed []string
		err     error
		want    authorizer.Decision
		asked   []string
	}{
		{name: "every object", attributes: patch, allowed: []string{""}, want: authorizer.DecisionAllow, asked: []string{""}},
		{name: "this object", attributes: patch, allowed: []string{"web"}, want: authorizer.DecisionAllow, asked: []string{"", "web"}},
		{name: "another object", attributes: patch, allowed: []string{"shop"}, want: authorizer.DecisionNoOpinion, asked: []string{"", "web"}},
		{name: "nothing", attributes: patch, want: authorizer.DecisionNoOpinion, asked: []string{"", "web"}},
		{
			name: "no answer", attributes: patch, allowed: []string{""}, err: errors.New("gone"),
			want: authorizer.DecisionNoOpinion, asked: []string{""},
		},
		{
			name:       "without a proxy",
			attributes: with(func(a *authorizer.AttributesRecord) { a.User = direct }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "a user whom the user impersonates",
			attributes: with(func(a *authorizer.AttributesRecord) { a.User = alice }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "another verb than the request",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Verb = "create" }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "another resource than the request",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Resource, a.APIGroup = "pods", "" }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "another subresource than the request",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Subresource = "status" }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "another namespace than the request",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Namespace = "default" }),
			allowed:    []string{"", "web"}, want: authorizer.DecisionAllow, asked: []string{"web"},
		},
		{
			name:       "another object than the request",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Name = "shop" }),
			allowed:    []string{"", "shop"}, want: authorizer.DecisionAllow, asked: []string{"shop"},
		},
		{
			name:       "a request that names none",
			attributes: with(func(a *authorizer.AttributesRecord) { a.Name = "" }),
			allowed:    []string{""}, want: authorizer.DecisionAllow, asked: []string{""},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var asked []string
			authorizes := NewAuthorizer(authorizer.AuthorizerFunc(
				func(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
					asked = append(asked, attributes.GetName())
					for _, name := range row.allowed {
						if row.err == nil && name == attributes.GetName() {
							return authorizer.DecisionAllow, "", nil
						}
					}
					return authorizer.DecisionNoOpinion, "", row.err
				}))
			ctx := request.WithRequestInfo(t.Context(), &request.RequestInfo{
				IsResourceRequest: true, Verb: patch.Verb, Namespace: patch.Namespace, Name: patch.Name,
				APIGroup: patch.APIGroup, APIVersion: patch.APIVersion, Resource: patch.Resource,
			})
			got, _, err := authorizes.Authorize(ctx, row.attributes)
			if got != row.want || !errors.Is(err, row.err) {
				t.Errorf("got %v, %v", got, err)
			}
			if diff := cmp.Diff(row.asked, asked); diff != "" {
				t.Errorf("names, -want +asked:\n%s", diff)
			}
		})
	}
}

// certificateAuthority signs certificates of clients.
type certificateAuthority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t *testing.T) certificateAuthority {
	t.Helper()
	authority := certificateAuthority{key: newKey(t)}
	authority.certificate = authority.certify(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "proxies"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, &authority.key.PublicKey)
	return authority
}

// sign returns a certificate for the client of that name.
func (a certificateAuthority) sign(t *testing.T, name string, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	return a.certify(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, &key.PublicKey)
}

// certify signs the template, with itself where there is no parent.
func (a certificateAuthority) certify(t *testing.T, template, parent *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	t.Helper()
	template.SerialNumber, template.NotAfter = big.NewInt(1), time.Now().Add(time.Hour)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
