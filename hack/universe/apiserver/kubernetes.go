// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"maps"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // The kinds of the groups are in legacyscheme.
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/kubelet/client"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	configmapstore "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	eventstore "k8s.io/kubernetes/pkg/registry/core/event/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	claimstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	controllerstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	secretstore "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	gatewayopenapi "sigs.k8s.io/gateway-api/pkg/generated/openapi"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
)

// kubernetesVersions are the served versions of the groups that boxes and the controllers of their children use.
var kubernetesVersions = []schema.GroupVersion{
	corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion, autoscalingv1.SchemeGroupVersion, autoscalingv2.SchemeGroupVersion, batchv1.SchemeGroupVersion,
	coordinationv1.SchemeGroupVersion, discoveryv1.SchemeGroupVersion, eventsv1.SchemeGroupVersion, networkingv1.SchemeGroupVersion, policyv1.SchemeGroupVersion,
}

// eventLifetime is how long kube-apiserver keeps events. The store never removes one.
const eventLifetime = time.Hour

// provider makes the storage of a group.
type provider interface {
	NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error)
}

// NewKubernetes returns the handler of the requests for the kinds of Kubernetes, whose objects are in the store.
func NewKubernetes(s *store.Store, addresses *ServiceAddresses, quota *Quota) (http.Handler, error) {
	config := newConfig(legacyscheme.Codecs, kubernetesDefinitions, legacyscheme.Scheme, gatewayScheme)
	config.AdmissionControl = quota
	resources := serverstorage.NewResourceConfig()
	resources.EnableVersions(kubernetesVersions...)
	backend := storagebackend.NewDefaultConfig("/registry", nil)
	encoding := serverstorage.NewDefaultResourceEncodingConfigForEffectiveVersion(legacyscheme.Scheme, config.EffectiveVersion)
	// Events have the same storage in both groups.
	prefixes := map[schema.GroupResource]string{{Resource: "replicationcontrollers"}: "controllers", {Resource: "services"}: "services/specs"}
	factory := serverstorage.NewDefaultStorageFactory(*backend, storageMediaType, legacyscheme.Codecs, encoding, resources, prefixes)
	factory.AddCohabitatingResources(api.Resource("events"), schema.GroupResource{Group: "events.k8s.io", Resource: "events"})
	options := restOptions{factory, s}
	config.RESTOptionsGetter = options

	server, err := config.Complete().New("kube-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("creating the generic API server: %w", err)
	}
	core := genericapiserver.NewDefaultAPIGroupInfo("", legacyscheme.Scheme, legacyscheme.ParameterCodec, legacyscheme.Codecs)
	if core.VersionedResourcesStorageMap["v1"], err = newCoreStorage(options, addresses); err != nil {
		return nil, fmt.Errorf("creating the storage of the core group: %w", err)
	}
	if err := server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, &core); err != nil {
		return nil, fmt.Errorf("installing the core group: %w", err)
	}
	var groups []*genericapiserver.APIGroupInfo
	for _, provider := range []provider{
		appsrest.StorageProvider{}, autoscalingrest.RESTStorageProvider{}, batchrest.RESTStorageProvider{}, coordinationrest.RESTStorageProvider{},
		discoveryrest.StorageProvider{}, eventsrest.RESTStorageProvider{TTL: eventLifetime}, networkingrest.RESTStorageProvider{}, policyrest.RESTStorageProvider{},
	} {
		group, err := provider.NewRESTStorage(resources, options)
		if err != nil {
			return nil, fmt.Errorf("creating the storage of an API group: %w", err)
		}
		groups = append(groups, &group)
	}
	gateway, err := newGatewayGroup(s)
	if err != nil {
		return nil, err
	}
	groups = append(groups, gateway)
	if err := server.InstallAPIGroups(groups...); err != nil {
		return nil, fmt.Errorf("installing the API groups: %w", err)
	}
	return server.Handler, nil
}

// kubernetesDefinitions returns the OpenAPI definitions of all kinds.
func kubernetesDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	definitions := gatewayopenapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return ref(definitionName(name)) })
	maps.Copy(definitions, openapi.GetOpenAPIDefinitions(ref))
	return definitions
}

// newCoreStorage returns the storage of the resources of the core group that boxes and the controllers of their children use.
func newCoreStorage(options generic.RESTOptionsGetter, addresses *ServiceAddresses) (map[string]rest.Storage, error) {
	nodes, err := nodestore.NewStorage(options, client.KubeletClientConfig{}, nil)
	if err != nil {
		return nil, err
	}
	pods, err := podstore.NewStorage(options, nodes.KubeletConnectionInfo, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	services, serviceStatus, _, err := servicestore.NewREST(options, api.IPv4Protocol, addresses.families(), addresses.ports(), nil, pods.Pod, nil)
	if err != nil {
		return nil, err
	}
	claims, claimStatus, err := claimstore.NewREST(options)
	if err != nil {
		return nil, err
	}
	controllers, err := controllerstore.NewStorage(options)
	if err != nil {
		return nil, err
	}
	configMaps, err := configmapstore.NewREST(options)
	if err != nil {
		return nil, err
	}
	secrets, err := secretstore.NewREST(options)
	if err != nil {
		return nil, err
	}
	events, err := eventstore.NewREST(options, uint64(eventLifetime.Seconds()))
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"configmaps":                    configMaps,
		"events":                        events,
		"nodes":                         nodes.Node,
		"nodes/status":                  nodes.Status,
		"persistentvolumeclaims":        claims,
		"persistentvolumeclaims/status": claimStatus,
		"pods":                          pods.Pod,
		"pods/status":                   pods.Status,
		"pods/binding":                  pods.Binding,
		"pods/resize":                   pods.Resize,
		"pods/ephemeralcontainers":      pods.EphemeralContainers,
		"replicationcontrollers":        controllers.Controller,
		"replicationcontrollers/status": controllers.Status,
		"secrets":                       secrets,
		"services":                      services,
		"services/status":               serviceStatus,
	}, nil
}
