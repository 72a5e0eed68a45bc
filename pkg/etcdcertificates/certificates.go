// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdcertificates issues what the members of an etcd and their clients know each other by, and keeps it in Secrets.
package etcdcertificates

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

const (
	// caLifetime is long: neither etcd nor its clients load another CA before they are restarted.
	caLifetime = 10 * 365 * 24 * time.Hour

	caKey = corev1.ServiceAccountRootCAKey
)

// Certificates says what is issued, and where it is kept.
type Certificates struct {
	Client kubernetes.Interface
	// Namespace has the Secrets, which must exist. Others may mount them before anything is in them.
	Namespace string
	// CASecret has the CA with its private key. MemberSecret and ClientSecret have the certificate of the members and that of
	// the clients, each with its private key and the CA's certificate.
	CASecret, MemberSecret, ClientSecret string
	// MemberHosts are the DNS names and IP addresses of the members.
	MemberHosts []string
	// Lifetime is how long the certificates of members and clients are valid.
	Lifetime time.Duration
}

// Renew issues what is not there yet, has no more than a third of its life left, or is not what it should be. The CA stays
// until it expires. Both etcd and its clients read their certificates again for each connection, but not the CA.
func (c *Certificates) Renew(ctx context.Context, now time.Time) error {
	ca, err := c.ca(ctx, now)
	if err != nil {
		return err
	}
	for _, issued := range []struct {
		secret  string
		subject pki.Subject
	}{
		// A member is a client of the others.
		{c.MemberSecret, pki.Subject{CommonName: "etcd", Hosts: c.MemberHosts, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}},
		{c.ClientSecret, pki.Subject{CommonName: "modelbox-apiserver", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}},
	} {
		if err := c.renew(ctx, ca, issued.secret, issued.subject, now); err != nil {
			return err
		}
	}
	return nil
}

// ca returns the CA that is kept, or another one where there is none or it has expired.
func (c *Certificates) ca(ctx context.Context, now time.Time) (*pki.KeyPair, error) {
	secret, err := c.read(ctx, c.CASecret)
	if err != nil {
		return nil, err
	}
	if len(secret.Data) > 0 {
		ca, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("using the CA: Secret %s/%s: %w", c.Namespace, c.CASecret, err)
		}
		if now.Before(ca.Certificate.NotAfter) {
			return ca, nil
		}
		klog.FromContext(ctx).Info("The CA has expired: restart etcd and its clients when it has been replaced", "secret", klog.KObj(secret))
	}
	ca, err := pki.NewCA(fmt.Sprintf("etcd-ca@%d", now.Unix()), now, caLifetime)
	if err != nil {
		return nil, err
	}
	return ca, c.write(ctx, secret, ca, nil)
}

// renew writes another certificate into the Secret unless the one in it will do.
func (c *Certificates) renew(ctx context.Context, ca *pki.KeyPair, name string, subject pki.Subject, now time.Time) error {
	secret, err := c.read(ctx, name)
	if err != nil {
		return err
	}
	if present, err := decode(secret); err == nil && c.willDo(present.Certificate, ca.Certificate, subject, now) {
		return nil
	}
	issued, err := ca.Issue(subject, now, c.Lifetime)
	if err != nil {
		return err
	}
	return c.write(ctx, secret, issued, ca)
}

// willDo returns whether the certificate is of the CA and the subject, and is not to be renewed yet.
func (c *Certificates) willDo(certificate, ca *x509.Certificate, subject pki.Subject, now time.Time) bool {
	return certificate.CheckSignatureFrom(ca) == nil &&
		now.Before(pki.RenewalTime(certificate, c.Lifetime)) &&
		!slices.ContainsFunc(subject.Hosts, func(host string) bool { return certificate.VerifyHostname(host) != nil })
}

func (c *Certificates) read(ctx context.Context, name string) (*corev1.Secret, error) {
	secret, err := c.Client.CoreV1().Secrets(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", c.Namespace, name, err)
	}
	return secret, nil
}

// write keeps the pair in the Secret, with the CA that has signed it.
func (c *Certificates) write(ctx context.Context, secret *corev1.Secret, pair, ca *pki.KeyPair) error {
	certificate, key, err := pair.Encode()
	if err != nil {
		return err
	}
	changed := secret.DeepCopy()
	changed.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	if ca != nil {
		if changed.Data[caKey], err = certutil.EncodeCertificates(ca.Certificate); err != nil {
			return fmt.Errorf("encoding the CA: %w", err)
		}
	}
	if _, err := c.Client.CoreV1().Secrets(c.Namespace).Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", c.Namespace, secret.Name, err)
	}
	klog.FromContext(ctx).Info("Issued a certificate", "secret", klog.KObj(secret), "subject", pair.Certificate.Subject.CommonName, "expires", pair.Certificate.NotAfter)
	return nil
}

// decode returns the pair that is kept in the Secret.
func decode(secret *corev1.Secret) (*pki.KeyPair, error) {
	certificates, err := certutil.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", corev1.TLSCertKey, err)
	}
	pair, err := pki.Find(certificates, secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", corev1.TLSPrivateKeyKey, err)
	}
	return pair, nil
}
