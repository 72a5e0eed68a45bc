// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// HTTPRoutePrefix is the prefix of the keys of HTTPRoutes.
const HTTPRoutePrefix = "/httproutes/"

var (
	gatewayScheme = runtime.NewScheme()
	gatewayCodecs = serializer.NewCodecFactory(gatewayScheme)
	httpRoutes    = schema.GroupResource{Group: gatewayv1.GroupName, Resource: "httproutes"}
)

func init() {
	utilruntime.Must(gatewayv1.Install(gatewayScheme))
	metav1.AddToGroupVersion(gatewayScheme, schema.GroupVersion{Version: "v1"})
	// The internal version has the same types.
	internal := schema.GroupVersion{Group: gatewayv1.GroupName, Version: runtime.APIVersionInternal}
	gatewayScheme.AddKnownTypes(internal, &gatewayv1.HTTPRoute{}, &gatewayv1.HTTPRouteList{})
}

// newGatewayGroup returns the API group of HTTPRoutes, as if its CustomResourceDefinition had no validation.
func newGatewayGroup(s *store.Store) (*genericapiserver.APIGroupInfo, error) {
	main := httpRouteStrategy{resource.NewStrategy(gatewayScheme)}
	routes := &registry.Store{
		NewFunc:                   func() runtime.Object { return &gatewayv1.HTTPRoute{} },
		NewListFunc:               func() runtime.Object { return &gatewayv1.HTTPRouteList{} },
		DefaultQualifiedResource:  httpRoutes,
		SingularQualifiedResource: schema.GroupResource{Group: gatewayv1.GroupName, Resource: "httproute"},
		CreateStrategy:            main,
		UpdateStrategy:            main,
		DeleteStrategy:            main,
		ResetFieldsStrategy:       main,
		TableConvertor:            rest.NewDefaultTableConvertor(httpRoutes),
	}
	if err := routes.CompleteWithOptions(&generic.StoreOptions{RESTOptions: gatewayOptions{s}}); err != nil {
		return nil, fmt.Errorf("creating the storage of HTTPRoutes: %w", err)
	}
	status := resource.NewStatusREST(resource.StatusStore(routes, httpRouteStatusStrategy{main}), schema.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"})
	group := genericapiserver.NewDefaultAPIGroupInfo(gatewayv1.GroupName, gatewayScheme, metav1.ParameterCodec, gatewayCodecs)
	group.VersionedResourcesStorageMap[gatewayv1.GroupVersion.Version] = map[string]rest.Storage{"httproutes": routes, "httproutes/status": status}
	return &group, nil
}

// gatewayOptions makes the registry of HTTPRoutes store its objects in the store.
type gatewayOptions struct{ store *store.Store }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o gatewayOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	backend := storagebackend.NewDefaultConfig("/registry", gatewayCodecs.LegacyCodec(schema.GroupVersion(gatewayv1.GroupVersion)))
	return optionsOf(o.store, backend.ForResource(resource), resource.Resource), nil
}

// httpRouteStrategy is the logic of custom resources with a status.
type httpRouteStrategy struct{ resource.Strategy }

var (
	_ rest.RESTCreateStrategy = httpRouteStrategy{}
	_ rest.RESTUpdateStrategy = httpRouteStrategy{}
)

// PrepareForCreate implements rest.RESTCreateStrategy.
func (httpRouteStrategy) PrepareForCreate(_ context.Context, object runtime.Object) {
	route := object.(*gatewayv1.HTTPRoute)
	route.Generation, route.Status = 1, gatewayv1.HTTPRouteStatus{}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (httpRouteStrategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	route, before := object.(*gatewayv1.HTTPRoute), old.(*gatewayv1.HTTPRoute)
	route.Generation, route.Status = before.Generation, before.Status
	if !apiequality.Semantic.DeepEqual(route.Spec, before.Spec) {
		route.Generation++
	}
}

// Validate implements rest.RESTCreateStrategy.
func (httpRouteStrategy) Validate(context.Context, runtime.Object) field.ErrorList { return nil }

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (httpRouteStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (httpRouteStrategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (httpRouteStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (httpRouteStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resetHTTPRouteField("status")
}

// httpRouteStatusStrategy is the logic of the subresource status.
type httpRouteStatusStrategy struct{ httpRouteStrategy }

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (httpRouteStatusStrategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	route, before := object.(*gatewayv1.HTTPRoute), old.(*gatewayv1.HTTPRoute)
	route.Spec = before.Spec
	metav1.ResetObjectMetaForStatus(route, before)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (httpRouteStatusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resetHTTPRouteField("spec")
}

func resetHTTPRouteField(name string) map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(gatewayv1.GroupVersion.String()): fieldpath.NewSet(fieldpath.MakePathOrDie(name)),
	}
}
