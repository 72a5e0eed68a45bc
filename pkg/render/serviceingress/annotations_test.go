// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newService returns a Service of one port with these annotations, as "name=value".
func newService(annotations ...string) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Annotations: map[string]string{}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}},
	}
	for _, annotation := range annotations {
		name, value, _ := strings.Cut(annotation, "=")
		service.Annotations[name] = value
	}
	return service
}

func TestWhoAsksForAnIngress(t *testing.T) {
	for _, row := range []struct {
		annotation       string
		annotated, wants bool
	}{
		{"other=true", false, false},
		{"ingress/http=", false, false},
		{"ingress/http=false", false, false},
		{"ingress/http=true", true, true},
		{"ingress/http=True", true, false},
		{"ingress/http=yes", true, false},
	} {
		t.Run(row.annotation, func(t *testing.T) {
			service := newService(row.annotation)
			if got := IsAnnotated(service); got != row.annotated {
				t.Errorf("it is annotated: got %v, want %v", got, row.annotated)
			}
			if got := AsksForIngress(service); got != row.wants {
				t.Errorf("it asks for an Ingress: got %v, want %v", got, row.wants)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	withPorts := func(ports ...corev1.ServicePort) *corev1.Service {
		service := newService("ingress/http=true")
		service.Spec.Ports = ports
		return service
	}
	const subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	for _, row := range []struct {
		name     string
		service  *corev1.Service
		defaults Defaults
		want     []string
	}{
		{name: "the annotation alone", service: newService("ingress/http=true")},
		{name: "all annotations", service: newService("ingress/http=true", "ingress/host=*.example.com", "ingress/class=nginx", "ingress/path=/a/b")},
		{name: "whatever the others are, without the first one", service: newService("ingress/host=Shop", "ingress/path=a")},
		{name: "whatever the others are, where the first one says no", service: newService("ingress/http=false", "ingress/host=Shop")},
		{name: "a value that is neither", service: newService("ingress/http=yes"), want: []string{
			`metadata.annotations[ingress/http]: Unsupported value: "yes": supported values: "true", "false"`}},
		{name: "a host in capitals", service: newService("ingress/http=true", "ingress/host=Shop"), want: []string{
			`metadata.annotations[ingress/host]: Invalid value: "Shop": ` + subdomain}},
		{name: "a host with a scheme", service: newService("ingress/http=true", "ingress/host=https://shop.example.com"), want: []string{
			`metadata.annotations[ingress/host]: Invalid value: "https://shop.example.com": ` + subdomain}},
		{name: "an address for a host", service: newService("ingress/http=true", "ingress/host=192.0.2.1"), want: []string{
			`metadata.annotations[ingress/host]: Invalid value: "192.0.2.1": must be a DNS name, not an IP address`}},
		{name: "a class that can be none", service: newService("ingress/http=true", "ingress/class=Nginx"), want: []string{
			`metadata.annotations[ingress/class]: Invalid value: "Nginx": ` + subdomain}},
		{name: "a relative path", service: newService("ingress/http=true", "ingress/path=api"), want: []string{
			`metadata.annotations[ingress/path]: Invalid value: "api": must be an absolute path`}},
		{name: "a path that leads up", service: newService("ingress/http=true", "ingress/path=/api/.."), want: []string{
			`metadata.annotations[ingress/path]: Invalid value: "/api/..": cannot end with '/..'`}},
		{name: "several at once", service: newService("ingress/http=true", "ingress/host=192.0.2.1", "ingress/path=api"), want: []string{
			`metadata.annotations[ingress/host]: Invalid value: "192.0.2.1": must be a DNS name, not an IP address`,
			`metadata.annotations[ingress/path]: Invalid value: "api": must be an absolute path`}},
		{name: "no port", service: withPorts(), want: []string{`spec.ports: Required value: an Ingress needs a port with protocol TCP`}},
		{name: "no port for HTTP", service: withPorts(corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP}), want: []string{
			`spec.ports: Required value: an Ingress needs a port with protocol TCP`}},
		{name: "a port without a protocol, which is TCP", service: withPorts(corev1.ServicePort{Port: 80})},
		{name: "a pattern that fits", service: newService("ingress/http=true"), defaults: Defaults{HostPattern: "{name}.{namespace}.example.com"}},
		{
			name: "a pattern that makes too long a host of it", service: newService("ingress/http=true"),
			defaults: Defaults{HostPattern: "{name}." + strings.Repeat("a.", 130) + "com"},
			want: []string{`metadata.annotations[ingress/host]: Required value: the pattern {name}.` + strings.Repeat("a.", 130) + `com makes the host "web.` +
				strings.Repeat("a.", 130) + `com" of this Service: must be no more than 253 characters`},
		},
		{
			name: "a host where the pattern does not fit", service: newService("ingress/http=true", "ingress/host=web.example.com"),
			defaults: Defaults{HostPattern: "{name}." + strings.Repeat("a.", 130) + "com"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, err := range Validate(row.service, row.defaults) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestValidateHostPattern(t *testing.T) {
	for _, row := range []struct{ pattern, want string }{
		{"{name}.example.com", ""},
		{"{name}.{namespace}.example.com", ""},
		{"{name}-{namespace}.example.com", ""},
		{"*.{name}.example.com", ""},
		{"example.com", "must contain {name}, or all Services would have the same host"},
		{"{NAME}.example.com", "must contain {name}, or all Services would have the same host"},
		{"{name}..example.com", `must become a host as {name}.{namespace}.example.com does, and becomes "name..example.com": a lowercase RFC 1123 subdomain`},
		{"{name}.{host}.example.com", `and becomes "name.{host}.example.com": `},
		{"https://{name}.example.com", `and becomes "https://name.example.com": `},
	} {
		t.Run(row.pattern, func(t *testing.T) {
			err := ValidateHostPattern(row.pattern)
			switch {
			case row.want == "" && err != nil:
				t.Error(err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}
