// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

var yearly = rotation{hosts: []string{host}, lifetime: 90 * day, caLifetime: 360 * day}

// issueAt returns the first certificates, as they are now.
func issueNow(t *testing.T, r rotation) *certificates {
	t.Helper()
	issued, _, err := r.rotate(nil, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

func TestRotation(t *testing.T) {
	for _, row := range []struct {
		name string
		// after is the age of the certificates, none of which was renewed.
		after         time.Duration
		rotation      rotation
		isNextTrusted bool
		want          []change
	}{
		{"nothing while everything is young", 59 * day, yearly, false, nil},
		{"a serving certificate after two thirds of its life", 60 * day, yearly, false, []change{issuedServing}},
		{"a serving certificate that has expired", 100 * day, yearly, false, []change{issuedServing}},
		{"the next CA after two thirds of the life of a CA", 240 * day, yearly, false, []change{issuedNextCA, issuedServing}},
		{"a CA is not trusted for long in the moment it is issued", 240 * day, yearly, true, []change{issuedNextCA, issuedServing}},
		{"everything after a CA has expired", 361 * day, yearly, false, []change{issuedNextCA, promotedNextCA, issuedServing, removedExpired}},
		{"a lifetime that was made shorter", 21 * day, rotation{hosts: yearly.hosts, lifetime: 30 * day, caLifetime: 360 * day}, false, []change{issuedServing}},
		{"a lifetime of CAs that was made shorter", 59 * day, rotation{hosts: yearly.hosts, lifetime: 90 * day, caLifetime: 80 * day}, false, []change{issuedNextCA}},
		{"a lifetime that was made longer", 59 * day, rotation{hosts: yearly.hosts, lifetime: 300 * day, caLifetime: 900 * day}, false, nil},
		{"another host", 1 * day, rotation{hosts: []string{host, "localhost"}, lifetime: 90 * day, caLifetime: 360 * day}, false, []change{issuedServing}},
		{"an address", 1 * day, rotation{hosts: []string{host, "10.0.0.1"}, lifetime: 90 * day, caLifetime: 360 * day}, false, []change{issuedServing}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				current := issueNow(t, yearly)
				time.Sleep(row.after)
				rotated, changes, err := row.rotation.rotate(current, time.Now(), row.isNextTrusted)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(row.want, changes); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				for _, host := range row.rotation.hosts {
					if err := rotated.serving.Certificate.VerifyHostname(host); err != nil {
						t.Error(err)
					}
				}
				if _, changes, _ := row.rotation.rotate(rotated, time.Now(), false); len(changes) > 0 {
					t.Errorf("it is not done: %v", changes)
				}
			})
		})
	}
}

func TestNextCASignsOnceItIsTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := issueNow(t, yearly)
		former := current.signer.Certificate
		time.Sleep(240 * day)
		current, _, _ = yearly.rotate(current, time.Now(), false)
		if current.signer.Certificate != former || len(current.trusted) != 2 {
			t.Fatalf("%d CAs are trusted, and %s signs", len(current.trusted), current.signer.Certificate.Subject)
		}

		current, changes, err := yearly.rotate(current, time.Now(), true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]change{promotedNextCA, issuedServing}, changes); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if current.serving.Certificate.CheckSignatureFrom(former) == nil {
			t.Error("the former CA signs")
		}
		if len(current.trusted) != 2 {
			t.Errorf("%d CAs are trusted, want the former one until it expires", len(current.trusted))
		}

		time.Sleep(50 * day)
		current, _, _ = yearly.rotate(current, time.Now(), false)
		if len(current.trusted) != 2 {
			t.Errorf("%d CAs are trusted while the former one is valid", len(current.trusted))
		}
		time.Sleep(71 * day)
		current, _, _ = yearly.rotate(current, time.Now(), false)
		if len(current.trusted) != 1 || current.trusted[0] == former {
			t.Errorf("the former CA is trusted after it has expired")
		}
	})
}

func TestNextCAThatNobodyTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := issueNow(t, yearly)
		time.Sleep(240 * day)
		current, _, _ = yearly.rotate(current, time.Now(), false)
		unusable := current.next.Certificate
		time.Sleep(361 * day)
		current, changes, err := yearly.rotate(current, time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]change{removedUnusable, issuedNextCA, promotedNextCA, issuedServing, removedExpired}, changes); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(current.trusted) != 1 || current.trusted[0] == unusable || current.next != nil {
			t.Errorf("%d CAs are trusted, and the next one is %v", len(current.trusted), current.next)
		}
	})
}

// TestServingCertificateIsNotIssuedAgainAndAgain goes towards the end of a CA that cannot be replaced.
func TestServingCertificateIsNotIssuedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := issueNow(t, yearly)
		issued := 0
		for end := current.signer.Certificate.NotAfter; !time.Now().After(end); time.Sleep(time.Until(yearly.nextTime(current)) + time.Second) {
			rotated, changes, err := yearly.rotate(current, time.Now(), false)
			if err != nil {
				t.Fatal(err)
			}
			for _, done := range changes {
				if done == issuedServing {
					issued++
				}
			}
			current = rotated
		}
		if issued != 5 {
			t.Errorf("%d were issued in a year, want one every 60 days", issued)
		}
	})
}

func TestServersWithOtherHostsAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := yearly, yearly
		one.hosts, other.hosts = []string{host, "one"}, []string{host, "10.0.0.2"}
		current := issueNow(t, one)
		current, _, _ = other.rotate(current, time.Now(), false)
		for _, r := range []rotation{one, other} {
			if _, changes, _ := r.rotate(current, time.Now(), false); len(changes) > 0 {
				t.Errorf("%v does not find its hosts: %v", r.hosts, changes)
			}
		}
	})
}

func TestIssuedCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rotation{hosts: []string{host, "127.0.0.1"}, lifetime: 90 * day, caLifetime: 60 * day}
		issued := issueNow(t, r)
		ca, serving := issued.signer.Certificate, issued.serving.Certificate
		for _, row := range []struct {
			name      string
			got, want any
		}{
			{"valid for clocks that are behind", serving.NotBefore, time.Now().Add(-time.Hour).UTC()},
			{"the end of the CA", ca.NotAfter, time.Now().Add(60 * day).UTC()},
			{"a serving certificate that does not outlive its CA", serving.NotAfter, ca.NotAfter},
			{"the CA signs nothing but certificates of servers", ca.MaxPathLenZero && ca.KeyUsage == x509.KeyUsageCertSign, true},
			{"the serving certificate is none of a client", serving.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
			{"the serving certificate is none of a CA", serving.IsCA, false},
		} {
			if diff := cmp.Diff(row.want, row.got); diff != "" {
				t.Errorf("%s, -want +got:\n%s", row.name, diff)
			}
		}
	})
}

func TestCertificatesSurviveTheSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := issueNow(t, yearly)
		time.Sleep(240 * day)
		for _, stored := range []*certificates{current, must(yearly.rotate(current, time.Now(), false))} {
			data, err := stored.encode()
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			again, err := decoded.encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(data, again); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
	})
}

func must(c *certificates, _ []change, err error) *certificates {
	if err != nil {
		panic(err)
	}
	return c
}

func TestUnusableSecrets(t *testing.T) {
	other, err := issueNow(t, yearly).encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name  string
		spoil func(data map[string][]byte)
		want  string
	}{
		{"nothing in it", func(data map[string][]byte) { clear(data) }, "ca.crt: "},
		{"no CA", func(data map[string][]byte) { delete(data, "ca.crt") }, "ca.crt: "},
		{"a CA that is none", func(data map[string][]byte) { data["ca.crt"] = data["tls.crt"] }, "ca.crt: the certificate of modelbox-apiserver is not a CA certificate"},
		{"no key of the CA", func(data map[string][]byte) { delete(data, "ca.key") }, "ca.key: it is not a private key"},
		{"half a key", func(data map[string][]byte) { data["ca.key"] = data["ca.key"][:50] }, "ca.key: it is not a private key"},
		{"the key of another CA", func(data map[string][]byte) { data["ca.key"] = other["ca.key"] }, "ca.key: its certificate is missing"},
		{"the key of no next CA", func(data map[string][]byte) { data["next-ca.key"] = other["ca.key"] }, "next-ca.key: its certificate is missing"},
		{"no serving certificate", func(data map[string][]byte) { data["tls.crt"] = nil }, "tls.crt: "},
		{"no key of the serving certificate", func(data map[string][]byte) { data["tls.key"] = nil }, "tls.key: it is not a private key"},
		{"the key of another serving certificate", func(data map[string][]byte) { data["tls.key"] = other["tls.key"] }, "tls.key: its certificate is missing"},
		{"a serving certificate of another CA", func(data map[string][]byte) { data["tls.crt"], data["tls.key"] = other["tls.crt"], other["tls.key"] }, "tls.crt: no CA in ca.crt has signed it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			data, err := issueNow(t, yearly).encode()
			if err != nil {
				t.Fatal(err)
			}
			row.spoil(data)
			_, err = decode(data)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
			if key := string(data[corev1.TLSPrivateKeyKey]); key != "" && strings.Contains(err.Error(), key[40:60]) {
				t.Errorf("the key is in the error: %v", err)
			}
		})
	}
}
