// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// Where the certificate comes from that the server serves with.
const (
	ServingCertificateIssued     = "issue"
	ServingCertificateFiles      = "files"
	ServingCertificateSelfSigned = "self-signed"

	// minCertificateLifetime leaves time for the cluster to notice another CA.
	minCertificateLifetime = time.Minute
)

var servingCertificateModes = []string{ServingCertificateIssued, ServingCertificateFiles, ServingCertificateSelfSigned}

// ServingCertificateOptions says where the certificate comes from that the server serves with.
type ServingCertificateOptions struct {
	// Mode is one of servingCertificateModes; after Complete never empty.
	Mode string
	// Secret is the namespace and the name of the Secret, with a slash in between, that has what the servers issue.
	Secret string
	// Hosts are DNS names and IP addresses in what is issued, for so long.
	Hosts                []string
	Lifetime, CALifetime time.Duration
}

// NewServingCertificateOptions returns the defaults.
func NewServingCertificateOptions() *ServingCertificateOptions {
	return &ServingCertificateOptions{
		Secret:     "modelbox-system/modelbox-apiserver-certificate",
		Hosts:      []string{"modelbox-apiserver.modelbox-system.svc"},
		Lifetime:   90 * 24 * time.Hour,
		CALifetime: 365 * 24 * time.Hour,
	}
}

// AddFlags adds the flags.
func (o *ServingCertificateOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Mode, "serving-certificate", o.Mode, ""+
		"Source of the serving certificate. \"issue\": the server issues the certificate and its CA, stores both in --serving-certificate-secret, which all servers share, "+
		"renews them and sets the caBundle of its APIService. \"files\": the server reads --tls-cert-file and --tls-private-key-file, reloads them when they change, and does not set the caBundle. "+
		"\"self-signed\": the server creates the certificate in --cert-dir once. No client can verify it. (default \"files\" if these flags are set, otherwise \"issue\")")
	fs.StringVar(&o.Secret, "serving-certificate-secret", o.Secret, "Namespace and name of the Secret with the issued certificate and its CA. Only the servers may write it.")
	fs.StringSliceVar(&o.Hosts, "serving-certificate-hosts", o.Hosts, "DNS names and IP addresses of the issued certificate. The cluster connects to the Service of the APIService as <name>.<namespace>.svc.")
	fs.DurationVar(&o.Lifetime, "serving-certificate-lifetime", o.Lifetime, "Lifetime of an issued serving certificate. The server renews it after two thirds of the lifetime.")
	fs.DurationVar(&o.CALifetime, "serving-certificate-ca-lifetime", o.CALifetime, "Lifetime of an issued CA. After two thirds of the lifetime, the server adds the next CA to the caBundle, and issues certificates from it a minute later.")
}

// Complete decides for files where some are given, and else to issue certificates, unless it was said.
func (o *ServingCertificateOptions) Complete(serving *genericoptions.SecureServingOptionsWithLoopback) {
	switch {
	case o.Mode != "":
	case hasFiles(serving):
		o.Mode = ServingCertificateFiles
	default:
		o.Mode = ServingCertificateIssued
	}
}

func hasFiles(serving *genericoptions.SecureServingOptionsWithLoopback) bool {
	return serving.ServerCert.CertKey != (genericoptions.CertKey{})
}

// Validate returns every error in the options.
func (o *ServingCertificateOptions) Validate(serving *genericoptions.SecureServingOptionsWithLoopback) []error {
	files := serving.ServerCert.CertKey
	switch {
	case !slices.Contains(servingCertificateModes, o.Mode):
		return []error{fmt.Errorf("--serving-certificate is %q and must be one of %s", o.Mode, strings.Join(servingCertificateModes, ", "))}
	case o.Mode == ServingCertificateFiles && (files.CertFile == "" || files.KeyFile == ""):
		return []error{errors.New("--serving-certificate=files requires both --tls-cert-file and --tls-private-key-file")}
	case o.Mode != ServingCertificateFiles && hasFiles(serving):
		return []error{fmt.Errorf("--serving-certificate=%s may not be specified together with --tls-cert-file and --tls-private-key-file", o.Mode)}
	case o.Mode != ServingCertificateIssued:
		return nil
	}
	var errs []error
	if _, err := o.SecretKey(); err != nil {
		errs = append(errs, err)
	}
	if len(o.Hosts) == 0 {
		errs = append(errs, errors.New("--serving-certificate-hosts must have at least one host"))
	}
	for _, host := range o.Hosts {
		if net.ParseIP(host) == nil && len(utilvalidation.IsDNS1123Subdomain(host)) > 0 {
			errs = append(errs, fmt.Errorf("--serving-certificate-hosts has %q, which is neither a DNS name nor an IP address", host))
		}
	}
	if o.Lifetime < minCertificateLifetime {
		errs = append(errs, fmt.Errorf("--serving-certificate-lifetime is %s and must be at least %s", o.Lifetime, minCertificateLifetime))
	}
	if o.CALifetime < o.Lifetime {
		errs = append(errs, fmt.Errorf("--serving-certificate-ca-lifetime is %s and must not be shorter than --serving-certificate-lifetime, which is %s", o.CALifetime, o.Lifetime))
	}
	return errs
}

// SecretKey returns the namespace and the name of Secret.
func (o *ServingCertificateOptions) SecretKey() (types.NamespacedName, error) {
	namespace, name, _ := strings.Cut(o.Secret, "/")
	if len(utilvalidation.IsDNS1123Label(namespace)) > 0 || len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		return types.NamespacedName{}, fmt.Errorf("--serving-certificate-secret is %q and must be <namespace>/<name>", o.Secret)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
