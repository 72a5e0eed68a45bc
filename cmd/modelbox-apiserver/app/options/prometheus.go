// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
)

// PrometheusOptions says which Prometheus the checks of rollouts query.
type PrometheusOptions struct {
	prometheus.Config
}

// NewPrometheusOptions returns the defaults: there is no Prometheus.
func NewPrometheusOptions() *PrometheusOptions { return &PrometheusOptions{} }

// AddFlags adds the flags.
func (o *PrometheusOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.URL, "prometheus-url", o.URL, "The URL of the Prometheus that the checks of rollouts query, without '/api/v1'. Users cannot choose another one. The server adds a matcher for the label 'namespace' to every query. If empty, the server refuses boxes with checks.")
	fs.StringVar(&o.CAFile, "prometheus-ca-file", o.CAFile, "File with the CA certificates that the certificate of Prometheus is verified with. If empty, the certificates of the system.")
	fs.StringVar(&o.TokenFile, "prometheus-token-file", o.TokenFile, "File with the bearer token that is sent to Prometheus. The server reads it again when it changes. It needs a URL with https.")
}

// Validate returns every error in the options.
func (o *PrometheusOptions) Validate() []error {
	if o.URL == "" {
		var errs []error
		for flag, value := range map[string]string{"--prometheus-ca-file": o.CAFile, "--prometheus-token-file": o.TokenFile} {
			if value != "" {
				errs = append(errs, fmt.Errorf("%s needs --prometheus-url", flag))
			}
		}
		return errs
	}
	parsed, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return []error{fmt.Errorf("--prometheus-url is not a URL")} // The error has the URL, which may have a password.
	case parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "":
		return []error{fmt.Errorf("--prometheus-url must begin with https:// or http://, and have a host")}
	case parsed.User != nil:
		return []error{fmt.Errorf("--prometheus-url must not have a user or a password: use --prometheus-token-file")}
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return []error{fmt.Errorf("--prometheus-url must not have a query or a fragment")}
	}
	var errs []error
	if parsed.Scheme == "http" && o.CAFile != "" {
		errs = append(errs, fmt.Errorf("--prometheus-ca-file needs a --prometheus-url with https"))
	}
	if parsed.Scheme == "http" && o.TokenFile != "" {
		errs = append(errs, fmt.Errorf("--prometheus-token-file needs a --prometheus-url with https: anyone on the way could read the token"))
	}
	return errs
}
