// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// APIService is the APIService of the server.
type APIService struct {
	Spec struct {
		CABundle              []byte
		InsecureSkipTLSVerify bool
		Service               struct{ Port int }
	}
	Status struct {
		Conditions []struct{ Type, Status string }
	}
}

// ReadAPIService returns the APIService of the group.
func (p *ControlPlane) ReadAPIService(t *testing.T) *APIService {
	t.Helper()
	data, err := p.KubeClient.Discovery().RESTClient().Get().
		AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/v1.model.github.com").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	service := &APIService{}
	if err := json.Unmarshal(data, service); err != nil {
		t.Fatal(err)
	}
	return service
}

// PatchAPIService changes the APIService of the group by a merge patch.
func (p *ControlPlane) PatchAPIService(t *testing.T, patch string) {
	t.Helper()
	if err := p.KubeClient.Discovery().RESTClient().Patch(types.MergePatchType).
		AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/v1.model.github.com").Body([]byte(patch)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
}

// ServerHost returns the URL at which the server listens.
func (*ControlPlane) ServerHost(service *APIService) string { return hostAt(service.Spec.Service.Port) }

func hostAt(port int) string { return fmt.Sprintf("https://localhost:%d", port) }

// DirectClient returns a client of the administrator with a direct connection to the server. For example, a request for /metrics
// through kube-apiserver would return the metrics of kube-apiserver.
func (p *ControlPlane) DirectClient(t *testing.T) rest.Interface {
	t.Helper()
	return p.DirectClientAt(t, p.ReadAPIService(t).Spec.Service.Port)
}

// DirectClientAt is like DirectClient, for another server of the control plane on the port.
func (p *ControlPlane) DirectClientAt(t *testing.T, port int) rest.Interface {
	t.Helper()
	service := p.ReadAPIService(t)
	config := rest.CopyConfig(p.Config)
	config.Host = hostAt(port)
	config.CAFile, config.CAData = "", service.Spec.CABundle
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Discovery().RESTClient()
}
