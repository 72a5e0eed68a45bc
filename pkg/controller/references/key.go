// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

const (
	// keyEntry is the entry of the Secret that has the key.
	keyEntry = "key"
	// keySize is the number of bytes of a key, which is the size of a SHA-256 sum.
	keySize = 32
)

// keySource has the key of the hashes. All servers share it in a Secret, which outlives the store: with another key, all hashes would be
// different, and all boxes with references would restart.
type keySource struct {
	client kubernetes.Interface
	secret types.NamespacedName

	mu  sync.Mutex
	key hasher
}

// get returns the key, which it reads once. It creates the Secret if it does not exist.
func (s *keySource) get(ctx context.Context) (hasher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	secret, err := s.read(ctx)
	if apierrors.IsNotFound(err) {
		secret, err = s.create(ctx)
	}
	if apierrors.IsAlreadyExists(err) { // another server was faster
		secret, err = s.read(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("getting the key of the hashes of references from Secret %s: %w", s.secret, err)
	}
	key := secret.Data[keyEntry]
	if len(key) < keySize {
		return nil, fmt.Errorf("getting the key of the hashes of references from Secret %s: %w", s.secret,
			errors.New("it has no key: delete it, and the server creates it again"))
	}
	s.key = key
	return s.key, nil
}

func (s *keySource) read(ctx context.Context) (*corev1.Secret, error) {
	return timeout.Request(ctx, func(ctx context.Context) (*corev1.Secret, error) {
		return s.client.CoreV1().Secrets(s.secret.Namespace).Get(ctx, s.secret.Name, metav1.GetOptions{})
	})
}

func (s *keySource) create(ctx context.Context) (*corev1.Secret, error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return timeout.Request(ctx, func(ctx context.Context) (*corev1.Secret, error) {
		return s.client.CoreV1().Secrets(s.secret.Namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:      s.secret.Name,
				Namespace: s.secret.Namespace,
				Labels:    map[string]string{"app.kubernetes.io/name": render.FieldManager, render.ManagedByLabel: render.ManagedBy},
			},
			Type: corev1.SecretTypeOpaque,
			Data: map[string][]byte{keyEntry: key},
		}, metav1.CreateOptions{FieldManager: render.FieldManager})
	})
}
