// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package claimresize refuses sizes of storage that the claims of a box cannot have, before the controller tries it.
//
// Like the plugin of kube-apiserver, it is an admission plugin and not a rule of validation, because it depends on the requests of
// the claims and on their storage class. Both are not in the box, and can change while the box stays the same.
package claimresize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PluginName is the name of the plugin of kube-apiserver that refuses the same of claims.
const PluginName = "PersistentVolumeClaimResize"

// growthTimeout and shrinkTimeout are how long an update waits for the claims and storage classes of the cluster. Without them, growth is
// accepted, and a smaller size is refused.
const (
	growthTimeout = 2 * time.Second
	shrinkTimeout = 10 * time.Second
)

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return newPlugin(), nil })
}

// Plugin refuses updates that let storage grow whose claim the cluster is known not to let grow, and those that let storage shrink
// below what its claims request. Storage that has grown in vain may so have its size again. Where the cluster does not answer, what
// grows is let through, since the controller tries again, and what shrinks is not.
type Plugin struct {
	*admission.Handler
	client kubernetes.Interface
}

var (
	_ admission.ValidationInterface          = &Plugin{}
	_ initializer.WantsExternalKubeClientSet = &Plugin{}
)

func newPlugin() *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Update)}
}

// SetExternalKubeClientSet lets the plugin ask for claims and storage classes.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.client = client
}

// ValidateInitialization returns what keeps the plugin from working.
func (p *Plugin) ValidateInitialization() error {
	if p.client == nil {
		return errors.New("missing the client")
	}
	return nil
}

// Validate returns what is wrong with the sizes of storage that an update changes.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	writes, err := boxwrites.Of(a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	timeout := growthTimeout
	if slices.ContainsFunc(writes, shrinksStorage) {
		timeout = shrinkTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var errs field.ErrorList
	for _, write := range writes {
		errs = append(errs, p.validateSizes(ctx, write)...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs)
	}
	return nil
}

// shrinksStorage returns whether the box asks for a smaller size of some storage than before.
func shrinksStorage(write boxwrites.Write) bool {
	return slices.ContainsFunc(write.Box.Spec.Storage, func(storage model.ModelBoxStorage) bool {
		before := findStorage(write.Old, storage.Name)
		return before != nil && storage.RequestedSize.Cmp(before.RequestedSize) < 0
	})
}

// validateSizes returns what is wrong with the sizes of the storage of a box. The claims are read where a size changes.
func (p *Plugin) validateSizes(ctx context.Context, write boxwrites.Write) field.ErrorList {
	listClaims := sync.OnceValues(func() ([]corev1.PersistentVolumeClaim, error) { return p.listClaims(ctx, write.Box) })
	var errs field.ErrorList
	for i := range write.Box.Spec.Storage {
		storage := &write.Box.Spec.Storage[i]
		before := findStorage(write.Old, storage.Name)
		if before == nil || storage.RequestedSize.Cmp(before.RequestedSize) == 0 {
			continue
		}
		claims, err := listClaims()
		claims = slices.DeleteFunc(slices.Clone(claims), func(claim corev1.PersistentVolumeClaim) bool { return !isClaimOf(write.Box, storage, claim.Name) })
		var obstacle string
		if storage.RequestedSize.Cmp(before.RequestedSize) < 0 {
			obstacle = shrinkObstacle(storage, before, claims, err)
		} else if obstacle, err = p.growthObstacle(ctx, storage, claims, err); err != nil {
			klog.FromContext(ctx).V(2).Info("Not validating storage that grows", "reason", err)
		}
		if obstacle != "" {
			errs = append(errs, field.Forbidden(write.Spec.Child("storage").Index(i).Child("size"), obstacle))
		}
	}
	return errs
}

// findStorage returns the storage of that name that the box had, nil where there was none.
func findStorage(old *model.ModelBox, name string) *model.ModelBoxStorage {
	if old == nil {
		return nil
	}
	for i := range old.Spec.Storage {
		if old.Spec.Storage[i].Name == name {
			return &old.Spec.Storage[i]
		}
	}
	return nil
}

// listClaims returns the claims that were made for the box.
func (p *Plugin) listClaims(ctx context.Context, box *model.ModelBox) ([]corev1.PersistentVolumeClaim, error) {
	claims, err := p.client.CoreV1().PersistentVolumeClaims(box.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box.Name}).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("listing PersistentVolumeClaims: %w", err)
	}
	return claims.Items, nil
}

// isClaimOf returns whether a claim of that name is of the storage of the box.
func isClaimOf(box *model.ModelBox, storage *model.ModelBoxStorage, claim string) bool {
	if box.Spec.Workload == model.WorkloadStatefulSet {
		return helper.IsPodClaimName(claim, box.Name, storage.Name)
	}
	return claim == helper.ClaimName(box.Name, storage.Name)
}

func requestOf(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// shrinkObstacle returns what keeps storage from having a smaller size than before, "" where nothing does: a claim that requests
// more, or an error in reading the claims.
func shrinkObstacle(storage, before *model.ModelBoxStorage, claims []corev1.PersistentVolumeClaim, err error) string {
	if err != nil {
		return fmt.Sprintf("a volume cannot shrink: must be at least %s, as before, as long as its claims are not known: %v", before.RequestedSize.String(), err)
	}
	var largest *corev1.PersistentVolumeClaim
	for i := range claims {
		request := requestOf(&claims[i])
		if largest == nil || request.Cmp(requestOf(largest)) > 0 {
			largest = &claims[i]
		}
	}
	if largest == nil {
		return ""
	}
	request := requestOf(largest)
	least := request
	if least.Cmp(before.RequestedSize) > 0 {
		least = before.RequestedSize
	}
	if storage.RequestedSize.Cmp(least) >= 0 {
		return ""
	}
	return fmt.Sprintf("a volume cannot shrink: must be at least %s, since PersistentVolumeClaim %s requests %s", least.String(), largest.Name, request.String())
}

// growthObstacle returns what keeps one of the claims from growing to the size of the storage, "" where nothing is known to.
func (p *Plugin) growthObstacle(ctx context.Context, storage *model.ModelBoxStorage, claims []corev1.PersistentVolumeClaim, err error) (string, error) {
	if err != nil {
		return "", err
	}
	for i := range claims {
		claim := &claims[i]
		if request := requestOf(claim); request.Cmp(storage.RequestedSize) >= 0 {
			continue
		}
		if obstacle, err := p.classObstacle(ctx, claim); obstacle != "" || err != nil {
			return obstacle, err
		}
	}
	return "", nil
}

// classObstacle returns what of its storage class keeps the claim from growing.
func (p *Plugin) classObstacle(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	name := ptr.Deref(claim.Spec.StorageClassName, "")
	if name == "" {
		return fmt.Sprintf("PersistentVolumeClaim %s has no storage class, and cannot grow", claim.Name), nil
	}
	class, err := p.client.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("PersistentVolumeClaim %s cannot grow: there is no storage class %q", claim.Name, name), nil
	case err != nil:
		return "", fmt.Errorf("reading storage class %s: %w", name, err)
	case !ptr.Deref(class.AllowVolumeExpansion, false):
		return fmt.Sprintf("PersistentVolumeClaim %s cannot grow as long as allowVolumeExpansion of storage class %q is not true", claim.Name, name), nil
	}
	return "", nil
}
