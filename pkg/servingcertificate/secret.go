// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	managedByLabel = "app.kubernetes.io/managed-by"
	// manager is the value of the label, and the field manager of writes.
	manager = "modelbox-apiserver"
)

// errForeignSecret prevents the server from overwriting the Secret of a user or of another controller.
var errForeignSecret = errors.New("this server did not create it, because it does not have the label " + managedByLabel + "=" + manager + ": delete it, or give its certificate to the server as files")

// secretStore reads and writes the Secret that the servers share.
type secretStore struct {
	client kubernetes.Interface
	key    types.NamespacedName
}

// read returns the Secret, nil if it does not exist. It returns errForeignSecret if this server did not create it.
func (s *secretStore) read(ctx context.Context) (*corev1.Secret, error) {
	secret, err := s.client.CoreV1().Secrets(s.key.Namespace).Get(ctx, s.key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s of the serving certificate: %w", s.key, err)
	case secret.Labels[managedByLabel] != manager:
		return nil, fmt.Errorf("using Secret %s of the serving certificate: %w", s.key, errForeignSecret)
	}
	return secret, nil
}

// write replaces the data of the Secret that was read, or creates a Secret if read is nil. It returns the written Secret. The error
// is a conflict or AlreadyExists if another server was faster.
func (s *secretStore) write(ctx context.Context, read *corev1.Secret, data map[string][]byte) (*corev1.Secret, error) {
	secrets := s.client.CoreV1().Secrets(s.key.Namespace)
	if read == nil {
		created, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:      s.key.Name,
				Namespace: s.key.Namespace,
				Labels:    map[string]string{"app.kubernetes.io/name": manager, managedByLabel: manager},
			},
			Type: corev1.SecretTypeTLS,
			Data: data,
		}, metav1.CreateOptions{FieldManager: manager})
		if err != nil {
			return nil, fmt.Errorf("creating Secret %s for the serving certificate: %w", s.key, err)
		}
		return created, nil
	}
	changed := read.DeepCopy()
	changed.Data = data
	updated, err := secrets.Update(ctx, changed, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("updating Secret %s of the serving certificate: %w", s.key, err)
	}
	return updated, nil
}
