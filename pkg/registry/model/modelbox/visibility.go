// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/requester"
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
		isVisible = requester.Can(ctx, v.authorizer, "get", modelv1.SchemeGroupVersion.WithResource("modelboxes"), box.Namespace)
		v.namespaces[box.Namespace] = isVisible
	}
	if !isVisible {
		return "another ModelBox"
	}
	return fmt.Sprintf("ModelBox %s in namespace %s", box.Name, box.Namespace)
}
