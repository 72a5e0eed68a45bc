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
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
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
{{range $variable, $shares := .Splits}}
split_clients $request_id {{$variable}} {
{{- range $shares}}
    {{if .IsLast}}*{{else}}{{printf "%.2f%%" .Percent}}{{end}} {{.Upstream}};
{{- end}}
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
        {{if or (index $.Upstreams $upstream) (index $.Splits $upstream)}}proxy_pass http://{{$upstream}}{{else}}return 503{{end}};
    }
{{- end}}
}
{{end}}`))

// nginx has the values for the template of the configuration.
type nginx struct {
	// Upstreams are the addresses of ready pods.
	Upstreams map[string][]string
	// Splits are variables whose value is one of several upstreams, chosen at random for each request. The proxy responds with 502
	// to the requests for an upstream without pods.
	Splits map[string][]nginxShare
	// Servers are by host.
	Servers map[string]*nginxServer
}

// nginxShare is the share of an upstream in the requests.
type nginxShare struct {
	Upstream string
	Percent  float64
	// IsLast says that all requests that are left are for this upstream.
	IsLast bool
}

type nginxServer struct {
	Certificate *corev1.Secret
	// Locations have the names of upstreams or of splits.
	Locations map[string]string
}

// newNginx returns the values for the Ingresses and the HTTPRoutes, with routes to their pods. Each of them must have hosts.
func newNginx(ingresses []*networkingv1.Ingress, routes []*gatewayv1.HTTPRoute, backends *backends) (*nginx, error) {
	nginx := &nginx{Upstreams: map[string][]string{}, Splits: map[string][]nginxShare{}, Servers: map[string]*nginxServer{}}
	for _, ingress := range ingresses {
		for _, rule := range ingress.Spec.Rules {
			server := nginx.server(rule.Host)
			for _, path := range rule.HTTP.Paths {
				upstream, err := nginx.addUpstream(path.Backend.Service.Name, path.Backend.Service.Port.Number, backends)
				if err != nil {
					return nil, err
				}
				for _, location := range nginxLocations(path.Path, ptr.Deref(path.PathType, "") == networkingv1.PathTypeExact) {
					server.Locations[location] = upstream
				}
			}
			certificate, err := backends.certificate(ingress, rule.Host)
			if err != nil {
				return nil, err
			}
			server.Certificate = certificate
		}
	}
	for _, route := range routes {
		if err := nginx.addRoute(route, backends); err != nil {
			return nil, err
		}
	}
	return nginx, nil
}

// server returns the server of a host.
func (x *nginx) server(host string) *nginxServer {
	if x.Servers[host] == nil {
		x.Servers[host] = &nginxServer{Locations: map[string]string{}}
	}
	return x.Servers[host]
}

// addUpstream adds the ready pods of a Service, and returns their name.
func (x *nginx) addUpstream(service string, port int32, backends *backends) (string, error) {
	upstream := fmt.Sprintf("%s-%d", service, port)
	addresses, err := backends.addresses(service, port)
	if err != nil {
		return "", err
	}
	if len(addresses) > 0 {
		x.Upstreams[upstream] = addresses
	}
	return upstream, nil
}

// configuration returns the configuration of the proxy.
func (x *nginx) configuration() (string, error) {
	var configuration strings.Builder
	if err := nginxTemplate.Execute(&configuration, x); err != nil {
		return "", err
	}
	return configuration.String(), nil
}

// nginxLocations returns the locations for a path. A prefix in nginx is by characters, and a prefix in an Ingress by path elements.
func nginxLocations(path string, isExact bool) []string {
	folder := strings.TrimSuffix(path, "/")
	switch {
	case isExact:
		return []string{"= " + path}
	case folder == "":
		return []string{"/"}
	default:
		return []string{"= " + folder, folder + "/"}
	}
}

// backends has the objects that Ingresses and HTTPRoutes refer to.
type backends struct {
	services corelisters.ServiceNamespaceLister
	slices   discoverylisters.EndpointSliceNamespaceLister
	secrets  corelisters.SecretNamespaceLister
}

// addresses returns the sorted addresses of the ready pods of a port of a Service.
func (b *backends) addresses(name string, number int32) ([]string, error) {
	service, err := b.services.Get(name)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	found, err := b.slices.List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: name}))
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, servicePort := range service.Spec.Ports {
		if servicePort.Port != number {
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
