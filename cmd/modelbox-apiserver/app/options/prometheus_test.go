// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
)

func TestPrometheus(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"none", nil, ""},
		{"one in the cluster", []string{"--prometheus-url=http://prometheus.monitoring.svc:9090/prefix"}, ""},
		{"one with TLS", []string{"--prometheus-url=https://prometheus", "--prometheus-ca-file=/ca.crt", "--prometheus-token-file=/token"}, ""},
		{"no scheme", []string{"--prometheus-url=prometheus:9090"}, "--prometheus-url must begin with https:// or http://, and have a host"},
		{"another scheme", []string{"--prometheus-url=file:///etc"}, "--prometheus-url must begin with https:// or http://, and have a host"},
		{"no URL", []string{"--prometheus-url=http://user:secret@[::"}, "--prometheus-url is not a URL"},
		{"a password", []string{"--prometheus-url=https://user:secret@prometheus"}, "--prometheus-url must not have a user or a password: use --prometheus-token-file"},
		{"a query", []string{"--prometheus-url=https://prometheus?a=b"}, "--prometheus-url must not have a query or a fragment"},
		{"a token without TLS", []string{"--prometheus-url=http://prometheus", "--prometheus-token-file=/token"},
			"--prometheus-token-file needs a --prometheus-url with https: anyone on the way could read the token"},
		{"a CA without TLS", []string{"--prometheus-url=http://prometheus", "--prometheus-ca-file=/ca.crt"}, "--prometheus-ca-file needs a --prometheus-url with https"},
		{"a token for nothing", []string{"--prometheus-token-file=/token"}, "--prometheus-token-file needs --prometheus-url"},
		{"a CA for nothing", []string{"--prometheus-ca-file=/ca.crt"}, "--prometheus-ca-file needs --prometheus-url"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got string
			if err := errors.Join(parse(t, row.args...).Prometheus.Validate()...); err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestPrometheusFlagsBecomeTheirConfiguration(t *testing.T) {
	o := parse(t, "--prometheus-url=https://prometheus", "--prometheus-ca-file=/ca.crt", "--prometheus-token-file=/token")
	want := prometheus.Config{URL: "https://prometheus", CAFile: "/ca.crt", TokenFile: "/token"}
	if diff := cmp.Diff(want, o.ControllerConfiguration().ModelBoxController.Prometheus); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
