"""Models: the zoo, model files, and configurations of Hugging Face."""
