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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/servingcertificate"
)

// Where the certificate comes from that the server serves with.
const (
	servingCertificateIssued     = "issue"
	servingCertificateFiles      = "files"
	servingCertificateSelfSigned = "self-signed"

	// minCertificateLifetime leaves time for the cluster to notice another CA.
	minCertificateLifetime = time.Minute
)

var servingCertificateModes = []string{servingCertificateIssued, servingCertificateFiles, servingCertificateSelfSigned}

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
		o.Mode = servingCertificateFiles
	default:
		o.Mode = servingCertificateIssued
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
	case o.Mode == servingCertificateFiles && (files.CertFile == "" || files.KeyFile == ""):
		return []error{errors.New("--serving-certificate=files requires both --tls-cert-file and --tls-private-key-file")}
	case o.Mode != servingCertificateFiles && hasFiles(serving):
		return []error{fmt.Errorf("--serving-certificate=%s may not be specified together with --tls-cert-file and --tls-private-key-file", o.Mode)}
	case o.Mode != servingCertificateIssued:
		return nil
	}
	var errs []error
	if _, err := o.secretKey(); err != nil {
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

func (o *ServingCertificateOptions) secretKey() (types.NamespacedName, error) {
	namespace, name, _ := strings.Cut(o.Secret, "/")
	if len(utilvalidation.IsDNS1123Label(namespace)) > 0 || len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		return types.NamespacedName{}, fmt.Errorf("--serving-certificate-secret is %q and must be <namespace>/<name>", o.Secret)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// prepare makes the certificate that is in files by itself, before they are read.
func (o *ServingCertificateOptions) prepare(serving *genericoptions.SecureServingOptionsWithLoopback) error {
	if o.Mode != servingCertificateSelfSigned {
		return nil
	}
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("creating a self-signed serving certificate: %w", err)
	}
	return nil
}

// ApplyTo lets the server serve with certificates that it issues, where it does. It runs what keeps them, as it does what
// reads files, and is not ready before the cluster trusts them. Of certificates in files it measures when they expire.
func (o *ServingCertificateOptions) ApplyTo(config *genericapiserver.RecommendedConfig) error {
	if config.SecureServing == nil {
		return nil
	}
	switch o.Mode {
	case servingCertificateIssued:
		return o.issue(config)
	case servingCertificateFiles:
		return servingcertificate.MeasureExpiration(config.SecureServing.Cert)
	}
	return nil
}

func (o *ServingCertificateOptions) issue(config *genericapiserver.RecommendedConfig) error {
	secret, err := o.secretKey()
	if err != nil {
		return err
	}
	clientConfig := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "serving-certificate")
	clientConfig.ContentType = runtime.ContentTypeProtobuf
	clientConfig.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	kubeClient, err := kubernetes.NewForConfig(clientConfig)
	if err != nil {
		return fmt.Errorf("creating the client for the serving certificate: %w", err)
	}
	aggregatorClient, err := aggregator.NewForConfig(clientConfig)
	if err != nil {
		return fmt.Errorf("creating the client for the APIService: %w", err)
	}
	controller, err := servingcertificate.New(servingcertificate.Config{
		KubeClient:       kubeClient,
		AggregatorClient: aggregatorClient,
		Secret:           secret,
		APIService:       modelv1.SchemeGroupVersion.Version + "." + modelv1.SchemeGroupVersion.Group,
		Hosts:            o.Hosts,
		Lifetime:         o.Lifetime,
		CALifetime:       o.CALifetime,
		EventReporter:    render.EventReporter,
	})
	if err != nil {
		return err
	}
	config.SecureServing.Cert = controller
	config.AddReadyzChecks(healthz.NamedCheck("serving-certificate", controller.Check))
	return nil
}
