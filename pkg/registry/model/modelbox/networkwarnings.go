// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/requester"
)

// GetNetwork returns a network from a cache. The caller must not change it.
type GetNetwork func(ctx context.Context, namespace, name string) (*model.Network, error)

// networkWarnings warns about networks that the update adds and that do not exist or are being deleted. Pods do not start without
// them. A user who may not read networks gets no warnings.
func (s Strategy) networkWarnings(ctx context.Context, box, old *model.ModelBox) []string {
	var warnings []string
	for i, name := range box.Spec.Networks {
		if old != nil && slices.Contains(old.Spec.Networks, name) {
			continue
		}
		path := field.NewPath("spec", "networks").Index(i)
		network, err := s.getNetwork(ctx, box.Namespace, name)
		switch {
		case apierrors.IsNotFound(err):
			warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.NoNetwork(name)))
		case err != nil:
			klog.FromContext(ctx).V(2).Info("Looking for the networks of a box failed", "err", err)
		case network.DeletionTimestamp != nil:
			warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.NetworkDeleted(name)))
		}
	}
	if len(warnings) == 0 || !requester.Can(ctx, s.authorizer, "get", modelv1.SchemeGroupVersion.WithResource("networks"), box.Namespace) {
		return nil
	}
	return warnings
}
