// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package etcdcertificates

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	certutil "k8s.io/client-go/util/cert"
)

const (
	namespace = "modelbox-system"
	lifetime  = 90 * 24 * time.Hour
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// newCertificates returns what issues into empty Secrets.
func newCertificates() *Certificates {
	c := &Certificates{Namespace: namespace, CASecret: "ca", MemberSecret: "members", ClientSecret: "clients", MemberHosts: []string{"etcd-0.etcd", "127.0.0.1"}, Lifetime: lifetime}
	client := fake.NewClientset()
	for _, name := range []string{c.CASecret, c.MemberSecret, c.ClientSecret} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
		if err := client.Tracker().Add(secret); err != nil {
			panic(err)
		}
	}
	c.Client = client
	return c
}

// data returns what is in all Secrets.
func data(t *testing.T, c *Certificates) map[string]map[string][]byte {
	t.Helper()
	list, err := c.Client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]byte{}
	for _, secret := range list.Items {
		all[secret.Name] = secret.Data
	}
	return all
}

func renew(t *testing.T, c *Certificates, now time.Time) {
	t.Helper()
	if err := c.Renew(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// verify fails the test unless clients that trust the CA trust the certificate for the usage.
func verify(t *testing.T, data map[string][]byte, host string, usage x509.ExtKeyUsage, now time.Time) {
	t.Helper()
	certificates, err := certutil.ParseCertsPEM(data["tls.crt"])
	if err != nil {
		t.Fatal(err)
	}
	roots, err := certutil.NewPoolFromBytes(data["ca.crt"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificates[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: now}); err != nil {
		t.Error(err)
	}
}

func TestMembersAndClientsTrustEachOther(t *testing.T) {
	c := newCertificates()
	renew(t, c, start)
	issued := data(t, c)
	for _, host := range c.MemberHosts {
		verify(t, issued["members"], host, x509.ExtKeyUsageServerAuth, start)
	}
	verify(t, issued["members"], "", x509.ExtKeyUsageClientAuth, start)
	verify(t, issued["clients"], "", x509.ExtKeyUsageClientAuth, start)
	if diff := cmp.Diff(issued["members"]["ca.crt"], issued["clients"]["ca.crt"]); diff != "" {
		t.Errorf("clients trust another CA (+) than members do (-):\n%s", diff)
	}
	for _, secret := range []string{"members", "clients"} {
		if string(issued[secret]["tls.key"]) == string(issued["ca"]["tls.key"]) {
			t.Errorf("%s have the key of the CA", secret)
		}
	}
}

func TestCertificatesAreRenewedInTime(t *testing.T) {
	all := []string{"ca", "clients", "members"}
	for _, test := range []struct {
		name   string
		after  time.Duration
		change func(*Certificates)
		want   []string
	}{
		{name: "soon", after: lifetime/3*2 - time.Hour},
		{name: "after two thirds", after: lifetime / 3 * 2, want: []string{"clients", "members"}},
		{name: "when the CA has expired", after: caLifetime, want: all},
		{name: "another host", change: func(c *Certificates) { c.MemberHosts = append(c.MemberHosts, "etcd-1.etcd") }, want: []string{"members"}},
		{name: "shorter lifetime", after: time.Hour, change: func(c *Certificates) { c.Lifetime = time.Hour }, want: []string{"clients", "members"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCertificates()
			renew(t, c, start)
			before := data(t, c)
			if test.change != nil {
				test.change(c)
			}
			now := start.Add(test.after)
			renew(t, c, now)
			after := data(t, c)
			var renewed []string
			for _, name := range all {
				if !cmp.Equal(before[name], after[name]) {
					renewed = append(renewed, name)
				}
			}
			if diff := cmp.Diff(test.want, renewed); diff != "" {
				t.Errorf("renewed (+), expected (-):\n%s", diff)
			}
			for _, host := range c.MemberHosts {
				verify(t, after["members"], host, x509.ExtKeyUsageServerAuth, now)
			}
			verify(t, after["clients"], "", x509.ExtKeyUsageClientAuth, now)
		})
	}
}

func TestBrokenCertificateIsReplacedAndBrokenCAIsNot(t *testing.T) {
	c := newCertificates()
	renew(t, c, start)
	corrupt := func(name string) {
		t.Helper()
		if _, err := c.Client.CoreV1().Secrets(namespace).Update(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
			Data:       map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("secret")},
		}, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	corrupt(c.ClientSecret)
	renew(t, c, start)
	verify(t, data(t, c)["clients"], "", x509.ExtKeyUsageClientAuth, start)

	corrupt(c.CASecret)
	before := data(t, c)
	err := c.Renew(t.Context(), start)
	if err == nil || !strings.Contains(err.Error(), "using the CA: Secret modelbox-system/ca: tls.crt") {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
	if diff := cmp.Diff(before, data(t, c)); diff != "" {
		t.Errorf("it has changed something:\n%s", diff)
	}
}

func TestSecretsAreNotCreated(t *testing.T) {
	c := newCertificates()
	c.Client = fake.NewClientset()
	err := c.Renew(t.Context(), start)
	if err == nil || !strings.Contains(err.Error(), `secrets "ca" not found`) {
		t.Errorf("the error does not name the Secret: %v", err)
	}
}
