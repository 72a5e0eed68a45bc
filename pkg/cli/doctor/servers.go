// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

// address is where a server can be asked.
type address struct {
	// name is what the findings about it are called after.
	name string
	// pod is empty for one that is reached at host.
	pod, host string
	port      int32
}

// checkServers looks at every server behind the Service.
func (o *Options) checkServers(ctx context.Context) findings {
	if o.apiService == nil {
		return nil
	}
	addresses, found := o.addresses(ctx)
	versions := sets.New[string]()
	for _, address := range addresses {
		server, err := o.connect(ctx, address)
		if err != nil {
			found = append(found, unanswered("Server "+address.name, err))
			continue
		}
		about, version := server.check(ctx)
		server.close()
		if found = append(found, about...); version != "" {
			versions.Insert(version)
		}
	}
	if versions.Len() > 1 {
		found = append(found, warning("Versions", "the servers have different versions, as during an upgrade: %v", sets.List(versions)))
	}
	return found
}

// addresses returns the servers behind the Service, and what is wrong with that.
func (o *Options) addresses(ctx context.Context) ([]address, findings) {
	const check = "Service"
	reference := o.apiService.Spec.Service
	service, err := o.getService(ctx)
	if apierrors.IsNotFound(err) {
		return nil, findings{failed(check, "Service %s/%s not found", reference.Namespace, reference.Name)}
	}
	if err != nil {
		return nil, findings{unanswered(check, err)}
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		host, port := service.Spec.ExternalName, ptr.Deref(reference.Port, 443)
		return []address{{name: net.JoinHostPort(host, strconv.Itoa(int(port))), host: host, port: port}},
			findings{fine(check, "is an ExternalName Service for %s", host)}
	}
	slices, err := o.client.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name,
	})
	if err != nil {
		return nil, findings{unanswered(check, err)}
	}
	addresses, ready := endpoints(slices.Items)
	message := fmt.Sprintf("%d of %s ready", ready, count(int64(len(addresses)), "server", "servers"))
	switch {
	case ready == 0:
		return addresses, findings{failed(check, "%s", message)}
	case ready < len(addresses):
		return addresses, findings{warning(check, "%s", message)}
	}
	return addresses, findings{fine(check, "%s", message)}
}

// getService returns the Service of the servers, which it reads once.
func (o *Options) getService(ctx context.Context) (*corev1.Service, error) {
	if o.service != nil {
		return o.service, nil
	}
	reference := o.apiService.Spec.Service
	service, err := o.client.CoreV1().Services(reference.Namespace).Get(ctx, reference.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	o.service = service
	return service, nil
}

// endpoints returns the servers in slices, each once, and how many are ready.
func endpoints(slices []discoveryv1.EndpointSlice) (addresses []address, ready int) {
	seen := sets.New[string]()
	for i := range slices {
		slice := &slices[i]
		if len(slice.Ports) == 0 || slice.Ports[0].Port == nil {
			continue
		}
		for j := range slice.Endpoints {
			endpoint := &slice.Endpoints[j]
			found := address{port: *slice.Ports[0].Port}
			if target := endpoint.TargetRef; target != nil && target.Kind == "Pod" {
				found.name, found.pod = target.Name, target.Name
			} else if len(endpoint.Addresses) > 0 {
				found.host = endpoint.Addresses[0]
				found.name = net.JoinHostPort(found.host, strconv.Itoa(int(found.port)))
			}
			// One with addresses of both families is in two slices.
			if found.name == "" || seen.Has(found.name) {
				continue
			}
			seen.Insert(found.name)
			addresses = append(addresses, found)
			if ptr.Deref(endpoint.Conditions.Ready, true) {
				ready++
			}
		}
	}
	return addresses, ready
}
