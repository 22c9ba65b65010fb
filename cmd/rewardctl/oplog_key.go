package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

const (
	publicEnd   = ".pub"
	privateType = "PRIVATE KEY" // PKCS #8, as openssl writes it
	publicType  = "PUBLIC KEY"  // PKIX
)

// writeKeyPair makes a key to sign heads with: the private half in path, the public half beside
// it. A file that is there is never written over.
func writeKeyPair(path string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	for _, half := range []struct {
		path, form string
		mode       os.FileMode
		der        []byte
	}{{path, privateType, 0o600, secret}, {path + publicEnd, publicType, 0o644, open}} {
		file, err := os.OpenFile(half.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, half.mode)
		if err != nil {
			return nil, usage("new-key", "name a new file", "%v", err)
		}
		err = pem.Encode(file, &pem.Block{Type: half.form, Bytes: half.der})
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return public, nil
}

// readPrivateKey reads a key to sign with. One that others can read is refused.
func readPrivateKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, usage("key", "chmod 600 "+path, "others can read %s (mode %04o)", path,
			info.Mode().Perm())
	}
	der, err := readPEM("key", path, privateType)
	if err != nil {
		return nil, err
	}
	any, err := x509.ParsePKCS8PrivateKey(der)
	key, ok := any.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, usage("key", "make one with: rewardctl oplog anchor --new-key FILE",
			"%s is no Ed25519 key", path)
	}
	return key, nil
}

// readPublicKey reads the key that anchors must be signed by; nil without a path.
func readPublicKey(path string) (ed25519.PublicKey, error) {
	if path == "" {
		return nil, nil
	}
	der, err := readPEM("public-key", path, publicType)
	if err != nil {
		return nil, err
	}
	any, err := x509.ParsePKIXPublicKey(der)
	key, ok := any.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, usage("public-key", "name the .pub file that was made with the key",
			"%s is no Ed25519 public key", path)
	}
	return key, nil
}

// readPEM reads the one block of a file.
func readPEM(flag, path, form string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != form {
		return nil, usage(flag, fmt.Sprintf("name a PEM file with a %s", form),
			"%s holds no %s", path, form)
	}
	return block.Bytes, nil
}
