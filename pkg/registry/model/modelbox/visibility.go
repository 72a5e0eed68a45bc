// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// visibility is what the user of a request may know of other boxes.
type visibility struct {
	authorizer authorizer.UnconditionalAuthorizer
	// namespaces says of each that was asked about whether its boxes may be named.
	namespaces map[string]bool
}

func (s Strategy) visibility() *visibility {
	return &visibility{s.authorizer, map[string]bool{}}
}

// name names a box to the user of the request, who may not know that there is one of that name, or that namespace.
func (v *visibility) name(ctx context.Context, box *model.ModelBox) string {
	isVisible, isKnown := v.namespaces[box.Namespace]
	if !isKnown {
		isVisible = v.mayGet(ctx, box.Namespace)
		v.namespaces[box.Namespace] = isVisible
	}
	if !isVisible {
		return "another ModelBox"
	}
	return fmt.Sprintf("ModelBox %s in namespace %s", box.Name, box.Namespace)
}

// mayGet returns whether the user may get the boxes of a namespace; false where that cannot be found out.
func (v *visibility) mayGet(ctx context.Context, namespace string) bool {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false
	}
	decision, _, _ := v.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            who,
		Verb:            "get",
		Namespace:       namespace,
		APIGroup:        model.GroupName,
		APIVersion:      modelv1.SchemeGroupVersion.Version,
		Resource:        "modelboxes",
		ResourceRequest: true,
	})
	return decision == authorizer.DecisionAllow
}
