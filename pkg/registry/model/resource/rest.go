// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
)

// REST is a main resource: the generic store, which also refuses an update with a resourceVersion that no server has returned.
type REST struct {
	*genericregistry.Store
	Kind schema.GroupKind
	// ShortName is what kubectl accepts instead of the name of the resource.
	ShortName string
	// InCategoryAll is whether "kubectl get all" lists the objects.
	InCategoryAll bool
}

var (
	_ rest.StandardStorage    = &REST{}
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
)

// Update changes an object.
func (r *REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.Store.Update(ctx, name, resourceversion.Require(r.Kind, objInfo), createValidation, updateValidation, forceAllowCreate, options)
}

// ShortNames returns the short name of the resource.
func (r *REST) ShortNames() []string { return []string{r.ShortName} }

// Categories returns the groups of resources that the resource is part of.
func (r *REST) Categories() []string {
	if r.InCategoryAll {
		return []string{"all"}
	}
	return nil
}
