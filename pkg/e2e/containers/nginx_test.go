// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/utils/ptr"
)

// nginxTemplate sends each request to one pod, without retries with other pods.
var nginxTemplate = template.Must(template.New("ingresses.conf").Parse(`
proxy_http_version 1.1;
proxy_set_header Host $host;
proxy_set_header Connection "";
proxy_next_upstream off;
{{range $name, $addresses := .Upstreams}}
upstream {{$name}} {
{{- range $addresses}}
    server {{.}} max_fails=0;
{{- end}}
    keepalive 32;
}
{{end}}
{{range $host, $server := .Servers}}
server {
    listen 80;
    server_name {{$host}};
{{- with $server.Certificate}}
    listen 443 ssl;
    ssl_certificate "data:{{index .Data "tls.crt" | printf "%s"}}";
    ssl_certificate_key "data:{{index .Data "tls.key" | printf "%s"}}";
{{- end}}
{{- range $location, $upstream := $server.Locations}}
    location {{$location}} {
        {{if index $.Upstreams $upstream}}proxy_pass http://{{$upstream}}{{else}}return 503{{end}};
    }
{{- end}}
}
{{end}}`))

// nginx has the values for the template of the configuration.
type nginx struct {
	// Upstreams are the addresses of ready pods.
	Upstreams map[string][]string
	// Servers are by host.
	Servers map[string]*nginxServer
}

type nginxServer struct {
	Certificate *corev1.Secret
	// Locations have the names of upstreams.
	Locations map[string]string
}

// nginxConfiguration returns the configuration for the Ingresses, with routes to their pods. Each of their rules must have a host.
func nginxConfiguration(ingresses []*networkingv1.Ingress, backends *backends) (string, error) {
	nginx := nginx{Upstreams: map[string][]string{}, Servers: map[string]*nginxServer{}}
	for _, ingress := range ingresses {
		for _, rule := range ingress.Spec.Rules {
			server := nginx.Servers[rule.Host]
			if server == nil {
				server = &nginxServer{Locations: map[string]string{}}
				nginx.Servers[rule.Host] = server
			}
			for _, path := range rule.HTTP.Paths {
				backend := path.Backend.Service
				upstream := fmt.Sprintf("%s-%d", backend.Name, backend.Port.Number)
				addresses, err := backends.addresses(backend)
				if err != nil {
					return "", err
				}
				if len(addresses) > 0 {
					nginx.Upstreams[upstream] = addresses
				}
				for _, location := range nginxLocations(path) {
					server.Locations[location] = upstream
				}
			}
			certificate, err := backends.certificate(ingress, rule.Host)
			if err != nil {
				return "", err
			}
			server.Certificate = certificate
		}
	}
	var configuration strings.Builder
	if err := nginxTemplate.Execute(&configuration, nginx); err != nil {
		return "", err
	}
	return configuration.String(), nil
}

// nginxLocations returns the locations for a path. A prefix in nginx is by characters, and a prefix in an Ingress by path elements.
func nginxLocations(path networkingv1.HTTPIngressPath) []string {
	folder := strings.TrimSuffix(path.Path, "/")
	switch {
	case ptr.Deref(path.PathType, "") == networkingv1.PathTypeExact:
		return []string{"= " + path.Path}
	case folder == "":
		return []string{"/"}
	default:
		return []string{"= " + folder, folder + "/"}
	}
}

// backends has the objects that Ingresses refer to.
type backends struct {
	services corelisters.ServiceNamespaceLister
	slices   discoverylisters.EndpointSliceNamespaceLister
	secrets  corelisters.SecretNamespaceLister
}

// addresses returns the sorted addresses of the ready pods of a Service.
func (b *backends) addresses(backend *networkingv1.IngressServiceBackend) ([]string, error) {
	service, err := b.services.Get(backend.Name)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	found, err := b.slices.List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: backend.Name}))
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, servicePort := range service.Spec.Ports {
		if servicePort.Port != backend.Port.Number {
			continue
		}
		for _, slice := range found {
			for _, port := range slice.Ports {
				if ptr.Deref(port.Name, "") == servicePort.Name {
					addresses = append(addresses, readyAddresses(slice, ptr.Deref(port.Port, 0))...)
				}
			}
		}
	}
	slices.Sort(addresses)
	return addresses, nil
}

func readyAddresses(slice *discoveryv1.EndpointSlice, port int32) []string {
	var addresses []string
	for _, endpoint := range slice.Endpoints {
		if ptr.Deref(endpoint.Conditions.Ready, true) {
			addresses = append(addresses, net.JoinHostPort(endpoint.Addresses[0], strconv.Itoa(int(port))))
		}
	}
	return addresses
}

// certificate returns the Secret of the Ingress for the host, nil if there is none.
func (b *backends) certificate(ingress *networkingv1.Ingress, host string) (*corev1.Secret, error) {
	for _, tls := range ingress.Spec.TLS {
		if slices.Contains(tls.Hosts, host) {
			secret, err := b.secrets.Get(tls.SecretName)
			return secret, ignoreNotFound(err)
		}
	}
	return nil, nil
}

// ignoreNotFound returns nil for NotFound, because the creation of the object triggers another sync.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
