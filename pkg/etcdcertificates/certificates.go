// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdcertificates issues the certificates of the members of an etcd and of its clients, and stores them in Secrets.
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
	// caLifetime is long, because etcd and its clients must be restarted to load a new CA.
	caLifetime = 10 * 365 * 24 * time.Hour

	caKey = corev1.ServiceAccountRootCAKey
)

// Certificates is the configuration of the certificates and their Secrets.
type Certificates struct {
	Client kubernetes.Interface
	// Namespace is the namespace of the Secrets. They must exist, but may be empty, so that pods can mount them before.
	Namespace string
	// CASecret has the CA with its private key. MemberSecret has the certificate of the members, and ClientSecret the certificate
	// of the clients, each with its private key and the certificate of the CA.
	CASecret, MemberSecret, ClientSecret string
	// MemberHosts are the DNS names and IP addresses of the members.
	MemberHosts []string
	// Lifetime is the lifetime of the certificates of members and clients.
	Lifetime time.Duration
}

// Renew issues each certificate that does not exist, is in the last third of its lifetime, or differs from the configuration. It
// keeps the CA until it expires. etcd and its clients read their certificates again for each connection, but not the CA.
func (c *Certificates) Renew(ctx context.Context, now time.Time) error {
	ca, err := c.ca(ctx, now)
	if err != nil {
		return err
	}
	for _, issued := range []struct {
		secret  string
		subject pki.Subject
	}{
		// A member is also a client of the other members.
		{c.MemberSecret, pki.Subject{CommonName: "etcd", Hosts: c.MemberHosts, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}},
		{c.ClientSecret, pki.Subject{CommonName: "modelbox-apiserver", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}},
	} {
		if err := c.renew(ctx, ca, issued.secret, issued.subject, now); err != nil {
			return err
		}
	}
	return nil
}

// ca returns the CA in its Secret. It issues a new CA if there is none, or if the CA has expired.
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
		klog.FromContext(ctx).Info("The CA has expired. Restart etcd and its clients after the CA is replaced", "secret", klog.KObj(secret))
	}
	ca, err := pki.NewCA(fmt.Sprintf("etcd-ca@%d", now.Unix()), now, caLifetime)
	if err != nil {
		return nil, err
	}
	return ca, c.write(ctx, secret, ca, nil)
}

// renew writes a new certificate to the Secret if the certificate in it must be renewed.
func (c *Certificates) renew(ctx context.Context, ca *pki.KeyPair, name string, subject pki.Subject, now time.Time) error {
	secret, err := c.read(ctx, name)
	if err != nil {
		return err
	}
	if present, err := decode(secret); err == nil && c.isCurrent(present.Certificate, ca.Certificate, subject, now) {
		return nil
	}
	issued, err := ca.Issue(subject, now, c.Lifetime)
	if err != nil {
		return err
	}
	return c.write(ctx, secret, issued, ca)
}

// isCurrent returns whether the CA has signed the certificate for the subject, and it need not be renewed yet.
func (c *Certificates) isCurrent(certificate, ca *x509.Certificate, subject pki.Subject, now time.Time) bool {
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

// write writes the certificate, its private key and its CA to the Secret.
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

// decode returns the certificate and the private key in the Secret.
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
